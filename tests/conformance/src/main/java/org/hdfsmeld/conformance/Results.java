package org.hdfsmeld.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/** Each class's outcomes, in a file of its own: a run that was ended can go on after them. */
final class Results {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Path folder;
  private final String plugin;

  /** What a file holds; the plugin is known by the SHA-256 of its jar. */
  private record Result(String plugin, Comparison comparison) {}

  /** Results of what is in {@code plugin}, in a folder of one version of Hadoop. */
  Results(Path folder, Path plugin) throws IOException {
    this.folder = folder;
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(plugin));
      this.plugin = HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  private Path file(String className) {
    return folder.resolve(Comparison.simpleName(className) + ".json");
  }

  void write(Comparison comparison) throws IOException {
    JSON.writeValue(file(comparison.className()).toFile(), new Result(plugin, comparison));
  }

  /** What an earlier run found of a class, where it found no difference with this same plugin. */
  Optional<Comparison> read(String className) throws IOException {
    Path file = file(className);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    Result result = JSON.readValue(file.toFile(), Result.class);
    return Optional.of(result.comparison)
        .filter(kept -> result.plugin.equals(plugin))
        .filter(kept -> kept.className().equals(className) && kept.identical());
  }
}
