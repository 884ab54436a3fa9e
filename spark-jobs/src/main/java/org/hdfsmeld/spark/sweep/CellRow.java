package org.hdfsmeld.spark.sweep;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.hdfsmeld.spark.measure.StageThroughput;

/**
 * What a cell gave; all figures are simulated.
 *
 * @param cell its number
 * @param axes the name and the value on each axis
 * @param read over all jobs, or null when nothing was read
 * @param write over all jobs, or null when nothing was written
 * @param writeAmplification bytes programmed to flash for each byte written, or null where there
 *     was none
 * @param channelsBusyPercent share of the simulated time, mean over the channels
 * @param diesBusyPercent the same over the dies
 * @param error why the device refused, or null
 * @param command what repeats the cell in a shell
 * @param sha256 of all that this command prints, or null
 */
record CellRow(
    int cell,
    Map<String, String> axes,
    Direction read,
    Direction write,
    Double writeAmplification,
    Double channelsBusyPercent,
    Double diesBusyPercent,
    String error,
    String command,
    String sha256)
    implements Serializable {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * Reads or writes. IOPS and bandwidth are sums over the jobs, the mean is that of all requests,
   * percentiles are those of the slowest job.
   */
  record Direction(
      long requests,
      long failed,
      double iops,
      double mibPerSecond,
      double meanUs,
      double p50Us,
      double p99Us,
      double p999Us)
      implements Serializable {}

  /** Of what {@code meldsim run --format json} prints. */
  static CellRow of(Cell cell, String printed) {
    try {
      JsonNode run = MAPPER.readTree(printed);
      JsonNode device = run.path("device");
      JsonNode amplification = run.path("flash").path("write_amplification");
      return new CellRow(
          cell.number(),
          cell.axes(),
          direction(run.path("jobs"), "read"),
          direction(run.path("jobs"), "write"),
          amplification.isNumber() ? amplification.asDouble() : null,
          mean(device.path("channels_busy_percent")),
          mean(device.path("dies_busy_percent")),
          null,
          cell.request().command(),
          sha256(printed));
    } catch (IOException e) {
      throw new UncheckedIOException("not the simulator's JSON", e);
    }
  }

  /** Of a cell that the device does not run. */
  static CellRow refused(Cell cell, String error) {
    return new CellRow(
        cell.number(),
        cell.axes(),
        null,
        null,
        null,
        null,
        null,
        error,
        cell.request().command(),
        null);
  }

  private static Direction direction(JsonNode jobs, String name) {
    long requests = 0;
    long failed = 0;
    double iops = 0;
    double bytesPerSecond = 0;
    double sumUs = 0;
    double[] slowestUs = new double[3];
    for (JsonNode job : jobs) {
      JsonNode direction = job.path(name);
      requests += direction.path("total_ios").asLong();
      failed += direction.path("failed_ios").asLong();
      iops += direction.path("iops").asDouble();
      bytesPerSecond += direction.path("bw_bytes").asDouble();
      JsonNode latency = direction.path("lat_ns");
      sumUs += latency.path("mean").asDouble() * latency.path("N").asDouble() / 1e3;
      // Without a wait before the device, all latency is the device's, and only there are
      // percentiles.
      JsonNode percentiles = latency.path("percentile");
      if (percentiles.isMissingNode()) {
        percentiles = direction.path("clat_ns").path("percentile");
      }
      String[] names = {"50.000000", "99.000000", "99.900000"};
      for (int i = 0; i < names.length; i++) {
        slowestUs[i] = Math.max(slowestUs[i], percentiles.path(names[i]).asDouble() / 1e3);
      }
    }
    return requests == 0
        ? null
        : new Direction(
            requests,
            failed,
            iops,
            bytesPerSecond / StageThroughput.MIB,
            sumUs / requests,
            slowestUs[0],
            slowestUs[1],
            slowestUs[2]);
  }

  private static double mean(JsonNode values) {
    return StreamSupport.stream(values.spliterator(), false)
        .mapToDouble(JsonNode::asDouble)
        .average()
        .orElse(0);
  }

  private static String sha256(String text) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** The row's fields by their column names; nothing where a cell has nothing. */
  Map<String, Object> columns() {
    Map<String, Object> columns = new LinkedHashMap<>();
    columns.put("cell", cell);
    columns.putAll(axes);
    put(columns, "read", read);
    put(columns, "write", write);
    columns.put("write_amplification", writeAmplification);
    columns.put("channels_busy_percent", channelsBusyPercent);
    columns.put("dies_busy_percent", diesBusyPercent);
    columns.put("error", error);
    columns.put("command", command);
    columns.put("sha256", sha256);
    return columns;
  }

  private static void put(Map<String, Object> columns, String name, Direction direction) {
    boolean any = direction != null;
    columns.put(name + "_requests", any ? direction.requests() : null);
    columns.put(name + "_failed", any ? direction.failed() : null);
    columns.put(name + "_iops", any ? direction.iops() : null);
    columns.put(name + "_mib_s", any ? direction.mibPerSecond() : null);
    columns.put(name + "_mean_us", any ? direction.meanUs() : null);
    columns.put(name + "_p50_us", any ? direction.p50Us() : null);
    columns.put(name + "_p99_us", any ? direction.p99Us() : null);
    columns.put(name + "_p999_us", any ? direction.p999Us() : null);
  }
}
