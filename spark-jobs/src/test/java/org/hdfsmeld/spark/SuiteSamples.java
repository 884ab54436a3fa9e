package org.hdfsmeld.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.spark.churn.ChurnRun;
import org.hdfsmeld.spark.cli.Json;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.devices.DataNodeUse;
import org.hdfsmeld.spark.devices.DeviceUse;
import org.hdfsmeld.spark.devices.SimulatorUse;
import org.hdfsmeld.spark.lookup.LookupRun;
import org.hdfsmeld.spark.measure.LatencySummary;
import org.hdfsmeld.spark.mixed.MixedResult;
import org.hdfsmeld.spark.query.QueryRun;
import org.hdfsmeld.spark.query.TpchQuery;
import org.hdfsmeld.spark.scan.RawScan;
import org.hdfsmeld.spark.sort.SortRun;

/** Results of a suite made up for tests, in the jobs' own records: four rounds, round numbers. */
final class SuiteSamples {
  static final int ROUNDS = 4;
  private static final long MIB = 1L << 20;
  private static final int BIN_MS = 250;
  private static final int PHASE_MS = 15_000;

  private final Path directory;

  private SuiteSamples(Path directory) {
    this.directory = directory;
  }

  /** Writes them all: scan, query, lookup, mixed, sort, churn. */
  static void write(Path directory) throws IOException {
    SuiteSamples samples = new SuiteSamples(directory);
    for (int round = 1; round <= ROUNDS; round++) {
      double noise = 1 + 0.01 * (round - 2);
      samples.scan("stock", "", round, 410 * noise, 0);
      samples.scan("normal", "", round, 62 * noise, 0.96);
      samples.scan("melded", "", round, 86.8 * noise, 0.93);
      samples.scan("auto", "", round, 85 * noise, 0.92);
      samples.scan("normal", "1m", round, 40 * noise, 0.96);
      samples.scan("melded", "1m", round, 38 * noise, 0.96);
      samples.scan("normal", "16m", round, 62 * noise, 0.96);
      samples.scan("melded", "16m", round, 86.8 * noise, 0.93);
      for (String variant : List.of("normal", "auto")) {
        samples.query(variant, round, variant.equals("auto") ? 9.9 * noise : 10 * noise);
        samples.lookup(variant, round, 800 * noise);
        samples.sort(variant, round, 21 * noise);
      }
      samples.churn("lifetimes", round);
      samples.mixed("sets-baseline", round, 4.1 * noise);
      samples.mixed("sets-vertical", round, 1.04 * noise);
    }
  }

  /** A grid of three page allocations, two layouts of sets, and two workloads; one cell refused. */
  static Path sweep(Path directory) throws IOException {
    List<Object> rows = new ArrayList<>();
    for (String allocation : List.of("CWDP", "CDWP", "PDWC")) {
      for (String layout : List.of("baseline", "vertical")) {
        for (String job : List.of("random-read", "ingest")) {
          Map<String, String> axes = new LinkedHashMap<>();
          axes.put("profile", "palloc-mlc-8x8x2");
          axes.put("ftl.page_allocation", allocation);
          axes.put("sets.layout", layout);
          axes.put("sets.count", layout.equals("baseline") ? "1" : "4");
          axes.put("workload", "native-sim/workloads/sweep/" + job + ".fio");
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("cell", rows.size());
          row.put("axes", axes);
          if (rows.size() == 5) {
            row.put("error", "the device has no room for that");
          } else {
            row.put(
                job.equals("ingest") ? "write" : "read", Map.of("mibPerSecond", 800 + rows.size()));
          }
          rows.add(row);
        }
      }
    }
    new SuiteSamples(directory)
        .write("Sweep", "default", 1, Map.of(), 0, Map.of("cells", rows.size(), "rows", rows));
    return directory.resolve("Sweep-default-[]-1.json");
  }

  static LatencySummary latency(double p50Us, double p99Us) {
    return new LatencySummary(4000, p50Us, 1.5 * p50Us, p99Us, 1.2 * p99Us, 1.5 * p99Us);
  }

  private void scan(String variant, String window, int round, double rate, double wait)
      throws IOException {
    RawScan.Result result =
        new RawScan.Result(
            Format.RAW,
            8,
            1024 * MIB,
            1 << 20,
            0,
            "00000000deadbeef",
            latency(15_000, 31_000),
            1024 / rate,
            rate,
            List.of());
    Map<String, String> labels = new LinkedHashMap<>();
    if (!window.isEmpty()) {
      labels.put("window", window);
    }
    write(Scan.class.getSimpleName(), variant, round, labels, wait, result);
  }

  private void query(String variant, int round, double seconds) throws IOException {
    QueryRun.Run run = new QueryRun.Run(seconds / 2, 100 * MIB, 20, List.of());
    write(
        Query.class.getSimpleName(),
        variant,
        round,
        Map.of(),
        0.4,
        new QueryRun.Result(
            4,
            400 * MIB,
            List.of(
                new QueryRun.Answered(TpchQuery.Q1, List.of(), List.of(run, run, run)),
                new QueryRun.Answered(TpchQuery.Q6, List.of(), List.of(run)))));
  }

  private void lookup(String variant, int round, double reads) throws IOException {
    write(
        Lookup.class.getSimpleName(),
        variant,
        round,
        Map.of(),
        0.7,
        new LookupRun.Result(
            8,
            4000,
            65_536,
            2,
            2,
            1,
            0,
            "00000000deadbeef",
            latency(2_300, 9_100),
            4000 / reads,
            reads,
            reads / 16,
            List.of()));
  }

  private void sort(String variant, int round, double rate) throws IOException {
    write(
        Sort.class.getSimpleName(),
        variant,
        round,
        Map.of(),
        0.3,
        new SortRun.Result(
            Format.TEXT,
            4,
            400 * MIB,
            8,
            400 * MIB,
            3_000_000,
            "00000000deadbeef",
            400 / rate,
            rate,
            3 * rate,
            500 * MIB,
            50,
            50,
            50,
            0,
            List.of()));
  }

  private void churn(String variant, int round) throws IOException {
    write(
        Churn.class.getSimpleName(),
        variant,
        round,
        Map.of(),
        0,
        new ChurnRun.Result(40, 400, 1600 * MIB, 1400 * MIB, 60, 1600 / 60.0, List.of()));
  }

  private void mixed(String variant, int round, double ratio) throws IOException {
    List<MixedResult.Point> series = new ArrayList<>();
    for (int ms = 0; ms < 4 * PHASE_MS; ms += BIN_MS) {
      boolean writer = ms / PHASE_MS % 2 == 1;
      // Two seconds pass between the phases.
      long at = ms + 2000L * (ms / PHASE_MS);
      double wave = 1 + 0.15 * Math.sin(ms / 700.0);
      double p99 = 30_000 * wave * (writer ? ratio : 1);
      series.add(new MixedResult.Point(at, writer, 12, 15_000 * wave, p99, 1.3 * p99));
    }
    MixedResult.Load alone = new MixedResult.Load(latency(15_000, 30_000), 60, 0, 0);
    MixedResult.Load with = new MixedResult.Load(latency(16_000, 30_000 * ratio), 55, 12, 0);
    write(
        Mixed.class.getSimpleName(),
        variant,
        round,
        Map.of(),
        0.95,
        new MixedResult(
            8,
            1024 * MIB,
            1 << 20,
            1,
            1,
            PHASE_MS / 1e3,
            alone,
            with,
            MixedResult.Ratio.of(with, alone),
            List.of(),
            BIN_MS,
            series));
  }

  private void write(
      String job, String variant, int round, Map<String, String> more, double wait, Object result)
      throws IOException {
    Map<String, String> labels = new LinkedHashMap<>(more);
    labels.put("variant", variant);
    labels.put("round", Integer.toString(round));
    RunRecord run =
        new RunRecord(
            "hdfs-meld",
            "1.2.3",
            "org.hdfsmeld.spark." + job,
            List.of("--label", "odd=<b>&\"name\"", "hdfs:///suite/" + variant),
            "2026-01-01T00:00:00Z",
            "fixed",
            "4.2.0",
            Map.of("spark.master", "spark://spark-master:7077"),
            "3.5.0",
            RunRecord.Machine.current(),
            labels,
            job.equals("Sweep") ? null : simulator(variant, wait),
            result);
    Files.writeString(
        directory.resolve(
            String.join("-", job, variant, more.values().toString(), "" + round) + ".json"),
        Json.pretty(run));
  }

  private static SimulatorUse simulator(String variant, double wait) {
    boolean paced = !variant.equals("stock");
    double rate = variant.equals("normal") ? 2800 : 3900;
    DeviceUse device =
        new DeviceUse(
            "/data/1",
            List.of("/data/1"),
            "melded-tlc-8x8",
            paced ? "real-time" : "off",
            40,
            true,
            paced ? 8192 : 0,
            0,
            1024 * MIB,
            paced ? 512 * MIB : 0,
            paced ? 768 * MIB : 0,
            1024 / rate,
            1024 / rate,
            paced ? 0.6 * wait : null,
            0.7,
            0.1,
            rate,
            0.75,
            0.75,
            0);
    DataNodeUse.VolumeUse volume =
        new DataNodeUse.VolumeUse("/data/1", "", 20 * wait, 0, Map.of(), 7, 0, 0, 0);
    return SimulatorUse.of(
        List.of(
            new DataNodeUse("172.18.0.5:9864", null, List.of(volume), List.of(device)),
            new DataNodeUse("172.18.0.6:9864", null, List.of(), List.of())),
        20,
        20,
        0);
  }
}
