package org.hdfsmeld.spark.sweep;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.sim.SimRun;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Tasks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/**
 * A profile fitted to a measured drive: the search is the driver's, its simulations are the
 * executors'. What comes out is what {@code meldsim calibrate} gives, to the digit.
 */
public final class Calibration {
  private static final Logger LOG = LoggerFactory.getLogger(Calibration.class);
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int TASKS_A_SLOT = 8;

  @Option(
      names = "--calibrate",
      required = true,
      paramLabel = "FOLDER",
      description = {
        "Fit a profile to what was measured on a drive: a folder on the driver's disk with fio's JSON"
            + " files, or CSV files in the formats of the experiment real-drives."
      })
  Path folder;

  @Option(
      names = "--drive",
      defaultValue = "drive",
      paramLabel = "NAME",
      description = "The drive: the profile's name, and of its rows in files of several drives.")
  String drive;

  @Option(
      names = "--capacity",
      paramLabel = "BYTES",
      description = "Bytes that the host sees; default: what drive.json says.")
  Long capacity;

  @Option(
      names = "--given",
      paramLabel = "KEY=VALUE",
      description = "A key of the profile that is known. Repeatable.")
  List<String> given = new ArrayList<>();

  @Option(
      names = "--overhead",
      defaultValue = "1",
      paramLabel = "RATIO",
      description = "Bytes to flash for each byte written, without collection.")
  double overhead;

  @Option(
      names = "--out",
      paramLabel = "FILE.toml",
      description = "Write the profile there, on the driver's disk.")
  Path out;

  /**
   * What was found.
   *
   * @param simulations done by executors
   * @param wallSeconds measured, of the stages that simulated
   * @param taskSeconds measured, run time summed over their tasks
   * @param calibration what {@code meldsim calibrate --format json} has as its result
   */
  public record Result(
      int simulations, double wallSeconds, double taskSeconds, JsonNode calibration) {}

  /** Searches to the end with a session of the caller, which stays open. */
  public Result run(SparkSession session, long seed) throws Exception {
    ObjectNode request = request(seed);
    String asked = request.toString();
    ArrayNode known = MAPPER.createArrayNode();
    double wallSeconds = 0;
    double taskSeconds = 0;
    while (true) {
      JsonNode step = answer(message(request).set("known", known));
      JsonNode done = step.get("done");
      if (done != null) {
        if (out != null) {
          Files.writeString(out, done.get("profile_toml").asText());
        }
        return new Result(known.size(), wallSeconds, taskSeconds, done);
      }
      List<ArrayList<String>> batches = dealt(session, step.get("simulate"));
      Measured<List<String>> measured =
          Measured.run(
              session.sparkContext(),
              "calibrate",
              () ->
                  Tasks.run(
                      session.sparkContext(), batches, (batch, conf) -> simulate(asked, batch)));
      for (String evaluations : measured.value()) {
        known.addAll((ArrayNode) MAPPER.readTree(evaluations));
      }
      wallSeconds += measured.wallSeconds();
      taskSeconds += StageThroughput.taskSeconds(measured.stages());
      LOG.info("calibrate: {} simulations done", known.size());
    }
  }

  /** The measured cells are read once for all units of a task. */
  private static String simulate(String request, List<String> units) throws IOException {
    String all = String.join(",", units);
    return SimRun.run("", "{\"calibrate\":{\"request\":" + request + ",\"units\":[" + all + "]}}");
  }

  private static ObjectNode message(ObjectNode request) {
    ObjectNode message = MAPPER.createObjectNode();
    message.set("request", request);
    return message;
  }

  private static JsonNode answer(JsonNode message) throws IOException {
    ObjectNode whole = MAPPER.createObjectNode();
    whole.set("calibrate", message);
    return MAPPER.readTree(SimRun.run("", whole.toString()));
  }

  /** Units in turn: neighbours are of one point, and those of one kind take about as long. */
  private static List<ArrayList<String>> dealt(SparkSession session, JsonNode units) {
    int slots = session.sparkContext().defaultParallelism();
    int hands = Math.min(units.size(), TASKS_A_SLOT * slots);
    List<ArrayList<String>> dealt = new ArrayList<>();
    for (int i = 0; i < hands; i++) {
      dealt.add(new ArrayList<>());
    }
    for (int i = 0; i < units.size(); i++) {
      dealt.get(i % hands).add(units.get(i).toString());
    }
    return dealt;
  }

  private ObjectNode request(long seed) throws IOException {
    ObjectNode request = MAPPER.createObjectNode();
    request.put("drive", drive);
    texts(request.putArray("tables"), ".csv");
    texts(request.putArray("fio"), ".json");
    if (capacity != null) {
      request.put("capacity_bytes", capacity);
    }
    request.put("overhead", overhead);
    given.forEach(request.putArray("given")::add);
    request.put("seed", seed);
    return request;
  }

  private void texts(ArrayNode into, String ending) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new IOException("--calibrate: no folder " + folder + "; give one on the driver");
    }
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
    for (Path file : files) {
      into.addArray().add(file.getFileName().toString()).add(Files.readString(file));
    }
  }
}
