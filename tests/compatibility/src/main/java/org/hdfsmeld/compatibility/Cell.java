package org.hdfsmeld.compatibility;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.aether.RepositoryException;
import org.hdfsmeld.hadoop.HadoopJars;

/**
 * One Hadoop on one Java.
 *
 * @param release of Java, such as 17
 * @param tests the class path of the tests, without the plugin
 * @param daemons the class path of a NameNode and a DataNode, without the plugin
 */
record Cell(
    String hadoop, int release, JavaHome java, List<Path> tests, List<Path> daemons, Built built) {

  static Cell of(String hadoop, int release, Built built)
      throws IOException, InterruptedException, RepositoryException {
    List<Path> tests = new ArrayList<>(built.tests());
    tests.addAll(HadoopJars.miniCluster(hadoop, built.libraries()));
    JavaHome java = JavaHome.of(release, built.tree());
    return new Cell(hadoop, release, java, tests, HadoopJars.daemons(hadoop), built);
  }

  /** The plugin and a class path. */
  List<Path> withPlugin(List<Path> path) {
    return Stream.concat(Stream.of(built.plugin()), path.stream()).toList();
  }

  /** The content of all that is run here: equal where the outcome must be equal. */
  String key() throws IOException {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
    digest.update(java.version().getBytes(StandardCharsets.UTF_8));
    List<Path> all = new ArrayList<>(withPlugin(tests));
    all.addAll(daemons);
    all.add(built.faults());
    for (Path path : all) {
      try (Stream<Path> files = Files.walk(path)) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          digest.update(file.getFileName().toString().getBytes(StandardCharsets.UTF_8));
          digest.update(Files.readAllBytes(file));
        }
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  @Override
  public String toString() {
    return "Hadoop %s, Java %d".formatted(hadoop, release);
  }
}
