package org.hdfsmeld.spark.sweep;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.UnaryOperator;
import org.hdfsmeld.spark.cli.ShellWords;

/**
 * A run of the simulator, as its C ABI takes it ({@code docs/reference/c-abi.md}) and as the
 * command line {@code meldsim run} repeats it.
 *
 * @param profile how the profile was named: a built-in one or a path
 * @param profileText built-in name, or the text of the file
 * @param settings {@code KEY=VALUE} each, laid over the profile
 * @param precondition state of the device before the run, or null
 * @param workload what the device is asked for
 */
public record CellRequest(
    String profile,
    String profileText,
    ArrayList<String> settings,
    String precondition,
    Workload workload)
    implements Serializable {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * Jobs or a trace.
   *
   * @param kind {@code job} or {@code trace}
   * @param path as it was named
   * @param text of the job file; null of a trace, whose file Spark brings to every executor
   * @param options flags of {@code meldsim run} without their dashes, and their values
   */
  public record Workload(
      String kind, String path, String text, LinkedHashMap<String, String> options)
      implements Serializable {
    /** The last name of the path, by which Spark knows the file. */
    public String fileName() {
      return path.substring(path.lastIndexOf('/') + 1);
    }
  }

  /** The line that gives the same result in a shell, where the files are under the same paths. */
  String command() {
    List<String> words = new ArrayList<>(List.of("run", "--profile", profile));
    for (String setting : settings) {
      words.addAll(List.of("--set", setting));
    }
    if (precondition != null) {
      words.addAll(List.of("--precondition", precondition));
    }
    words.addAll(List.of("--" + workload.kind(), workload.path()));
    workload.options().forEach((key, value) -> words.addAll(List.of("--" + key, value)));
    words.addAll(List.of("--format", "json"));
    return ShellWords.join("meldsim", words);
  }

  /**
   * The request.
   *
   * @param fetched where the file of that name is on this machine
   */
  String toJson(UnaryOperator<String> fetched) {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("command", command());
    json.put("profile", profileText);
    settings.forEach(json.putArray("set")::add);
    if (precondition != null) {
      json.put("precondition", precondition);
    }
    ObjectNode inner = json.putObject("workload").putObject(workload.kind());
    inner.put("name", workload.path());
    if (workload.text() != null) {
      inner.put("text", workload.text());
    } else {
      inner.put("path", fetched.apply(workload.fileName()));
    }
    workload
        .options()
        .forEach(
            (flag, value) -> {
              String key = flag.equals("trace-format") ? "format" : flag.replace('-', '_');
              if (key.equals("seed") || key.equals("iodepth")) {
                inner.put(key, Long.parseLong(value));
              } else {
                inner.put(key, value);
              }
            });
    return json.toString();
  }
}
