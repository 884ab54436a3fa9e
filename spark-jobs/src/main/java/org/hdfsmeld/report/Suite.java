package org.hdfsmeld.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.hdfsmeld.spark.cli.Json;

/**
 * Results of jobs, grouped by job and variant.
 *
 * @param groups jobs by name; variants with those first that others are compared with
 */
public record Suite(List<SuiteGroup> groups) {
  private static final List<String> JOBS = List.of("scan", "query", "lookup", "mixed", "sort");
  private static final List<String> VARIANTS =
      List.of("stock", "normal", "melded", "auto", "sets-baseline");

  /**
   * Reads results. Runs with a label {@code window} are variants of their own: {@code melded@16m}.
   *
   * @param files results of jobs, and directories, in which files that are none are passed over
   */
  public static Suite read(List<Path> files) throws IOException {
    Map<String, List<JsonNode>> runs = new TreeMap<>(order());
    for (Path file : files) {
      if (Files.isDirectory(file)) {
        for (Path inside : jsonFiles(file)) {
          JsonNode run = parse(inside);
          if (isRun(run)) {
            add(runs, run);
          }
        }
      } else {
        JsonNode run = parse(file);
        if (!isRun(run)) {
          throw new IOException(file + ": is not the result of a job; give files of --json");
        }
        add(runs, run);
      }
    }
    if (runs.isEmpty()) {
      throw new IOException(files + ": no results of jobs there; give files of --json");
    }
    List<SuiteGroup> groups = new ArrayList<>();
    runs.forEach(
        (key, list) -> {
          String[] parts = key.split(":", 2);
          list.sort(Comparator.comparingInt(run -> run.path("labels").path("round").asInt()));
          groups.add(SuiteGroup.of(parts[0], parts[1], list));
        });
    return new Suite(groups);
  }

  List<String> jobs() {
    return groups.stream().map(SuiteGroup::job).distinct().toList();
  }

  /** The variants that have figures; a sweep has cells instead. */
  List<String> variants() {
    return groups.stream()
        .filter(group -> !group.figures().isEmpty())
        .map(SuiteGroup::variant)
        .distinct()
        .sorted(variantOrder())
        .toList();
  }

  List<SuiteGroup> of(String job) {
    return groups.stream().filter(group -> group.job().equals(job)).toList();
  }

  /** The group, or null. */
  SuiteGroup group(String job, String variant) {
    return of(job).stream().filter(g -> g.variant().equals(variant)).findFirst().orElse(null);
  }

  private static List<Path> jsonFiles(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
  }

  private static JsonNode parse(Path file) throws IOException {
    try {
      return Json.parse(Files.readString(file));
    } catch (JsonProcessingException e) {
      throw new IOException(file + ": is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  private static boolean isRun(JsonNode json) {
    return json.path("command").isTextual() && json.has("result");
  }

  private static void add(Map<String, List<JsonNode>> runs, JsonNode run) {
    String command = run.path("command").asText();
    JsonNode labels = run.path("labels");
    String job =
        labels
            .path("job")
            .asText(command.substring(command.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT));
    String window = labels.path("window").asText("");
    String variant =
        labels.path("variant").asText("default") + (window.isEmpty() ? "" : "@" + window);
    runs.computeIfAbsent(job + ":" + variant, key -> new ArrayList<>()).add(run);
  }

  private static Comparator<String> order() {
    Comparator<String> byJob = Comparator.comparingInt(key -> rank(JOBS, key.split(":", 2)[0]));
    return byJob
        .thenComparing(key -> key.split(":", 2)[0])
        .thenComparing(key -> key.split(":", 2)[1], variantOrder());
  }

  private static Comparator<String> variantOrder() {
    Comparator<String> known = Comparator.comparingInt(variant -> rank(VARIANTS, variant));
    return known.thenComparing(Comparator.naturalOrder());
  }

  private static int rank(List<String> known, String name) {
    int index = known.indexOf(name);
    return index < 0 ? known.size() : index;
  }
}
