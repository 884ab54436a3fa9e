package org.hdfsmeld.demo.report;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.hdfsmeld.demo.layout.Calibration;
import org.hdfsmeld.demo.layout.DataSet;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.demo.layout.Rounds;
import org.hdfsmeld.demo.layout.Settings;
import org.hdfsmeld.demo.layout.VariantResult;
import org.hdfsmeld.demo.volumes.Counters;
import org.hdfsmeld.demo.volumes.Sampler;
import org.hdfsmeld.spark.RunRecord;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.scan.TableScan;

/** Results made up for tests: three devices, a dilation of 100, round numbers. */
final class Samples {
  static final double DILATION = 100;
  private static final long MIB = 1L << 20;

  private Samples() {}

  static Settings settings(boolean directive) {
    return new Settings(
        1,
        9,
        128 * MIB,
        OptionalDouble.of(DILATION),
        12,
        1,
        16 * MIB,
        Settings.WindowMode.ADAPTIVE,
        "melded-tlc-8x8",
        directive,
        Path.of("report.html"),
        null,
        null,
        Path.of("/tmp"),
        false);
  }

  /** A device that read for one simulated second at the given rate. */
  static Counters counters(long mibPerSecond, long waitMillis) {
    Map<String, Long> values = new TreeMap<>();
    values.put("channels", 8L);
    values.put("dies", 64L);
    values.put("host_read_bytes", mibPerSecond * MIB);
    values.put("read_active_ps", 1_000_000_000_000L);
    values.put("die_busy_ps", 48_000_000_000_000L);
    values.put("channel_busy_ps", 4_000_000_000_000L);
    values.put("reader_wait_ns", waitMillis * 1_000_000);
    values.put("page_reads", 600L);
    values.put("melded_pages_read", 300L);
    values.put("buffer_page_reads", 100L);
    values.put("timeouts", 0L);
    values.put("mapped_pages", 1000L);
    values.put("melded_mapped_pages", 750L);
    values.put("padded_pages", 5L);
    return new Counters(values);
  }

  /** A scan of 6000 MiB by two tasks that ran all the time. */
  static TableScan.Result scan(double wallSeconds, String checksum) {
    StageThroughput stage =
        new StageThroughput(
            1, "scan", 12, 0, 6000 * MIB, 42, 0, 0, 0, 0, 0, wallSeconds, 2 * wallSeconds, 1, 0);
    return new TableScan.Result(
        Format.TEXT, true, 12, 6000 * MIB, 42, 4200, checksum, wallSeconds, 0, List.of(stage));
  }

  static VariantResult paced(String name, double wallSeconds, String checksum) {
    List<Counters> volumes = new ArrayList<>();
    List<Sampler.Sample> samples = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      volumes.add(counters(2000, Math.round(wallSeconds * 1000 * 2 * 0.95 / 3)));
    }
    for (int i = 0; i <= 4 * wallSeconds; i++) {
      samples.add(new Sampler.Sample(i / 4.0, List.of(10L * i, 20L * i, 30L * i)));
    }
    return VariantResult.paced(name, DILATION, scan(wallSeconds, checksum), volumes, samples);
  }

  private static Rounds.Pair undilated(double normalSeconds, double meldedSeconds) {
    return new Rounds.Pair(
        atOwnSpeed("normal", normalSeconds), atOwnSpeed("melded", meldedSeconds));
  }

  /** Readers wait a twentieth of their time. */
  private static VariantResult atOwnSpeed(String name, double seconds) {
    List<Counters> volumes = List.of(counters(2000, Math.round(seconds * 1000 * 2 * 0.05)));
    return VariantResult.paced(name, 1, scan(seconds, "0123456789abcdef"), volumes, List.of());
  }

  /** Normal takes 28 s; melded as long as said. */
  static DemoResult result(boolean directive, double meldedSeconds, String meldedChecksum) {
    String checksum = "0123456789abcdef";
    DataSet normal = DataSet.of("/n", false, 12, 6000 * MIB, 20, List.of(counters(1, 0)));
    DataSet melded = DataSet.of("/m", directive, 12, 6000 * MIB, 20, List.of(counters(1, 0)));
    return DemoResult.of(
        settings(directive),
        List.of(normal, melded),
        Calibration.fixed(250, 4000, DILATION),
        VariantResult.stock(scan(10, checksum)),
        Rounds.of(List.of(undilated(10, 10), undilated(10, 8), undilated(10, 12.5))),
        Rounds.of(
            List.of(
                new Rounds.Pair(
                    paced("normal", 28, checksum),
                    paced("melded", meldedSeconds, meldedChecksum)))));
  }

  static RunRecord run(DemoResult result) {
    return new RunRecord(
        "hdfs-meld",
        "1.2.3",
        "org.hdfsmeld.demo.Demo",
        List.of("--work-dir", "/tmp/<odd & \"name\">"),
        Instant.EPOCH.toString(),
        "fixed",
        "4.2.0",
        Map.of("spark.master", "local[2]"),
        "3.5.0",
        RunRecord.Machine.current(),
        Map.of(),
        null,
        result);
  }
}
