package org.hdfsmeld.datanode.metrics;

import java.util.Map;
import java.util.Set;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.Interns;

/** A volume's counters as a metrics2 record {@code MeldVolume} in context {@code dfs}. */
public final class VolumeMetricsSource implements MetricsSource {
  private static final MetricsInfo VOLUME = Interns.info("Volume", "Folder of the volume");
  private static final MetricsInfo STORAGE = Interns.info("StorageId", "Storage uuid");
  private static final MetricsInfo PROFILE = Interns.info("Profile", "Simulated device");
  private static final MetricsInfo MODE = Interns.info("Mode", "How the device takes part");
  private static final MetricsInfo HEALTHY = Interns.info("healthy", "1 while the device serves");

  private static final MetricsInfo MELDED_SHARE =
      Interns.info("melded_share", "Of the pages that hold data, the share that is melded");

  /** What goes up and down; all else only grows. */
  private static final Set<String> GAUGES =
      Set.of(
          "channels",
          "dies",
          "packages",
          "planes",
          "mapped_pages",
          "history_entries",
          "crossover_bytes",
          "melded_mapped_pages",
          "free_blocks",
          "capacity_pages",
          "least_erases",
          "most_erases",
          "firmware_cores",
          "outstanding_commands",
          "state_snapshot_bytes",
          "state_snapshot_stall_ns",
          "state_journal_lag",
          "blocks_mapped");

  private final MeldVolumeMXBean volume;
  private final String storageId;

  public VolumeMetricsSource(MeldVolumeMXBean volume, String storageId) {
    this.volume = volume;
    this.storageId = storageId;
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    addCounters(
        collector
            .addRecord("MeldVolume")
            .setContext("dfs")
            .tag(VOLUME, volume.getVolume())
            .tag(STORAGE, storageId)
            .tag(PROFILE, volume.getProfile())
            .tag(MODE, volume.getMode())
            .addGauge(HEALTHY, volume.isHealthy() ? 1 : 0),
        volume.getCounters());
  }

  /** Adds counters by their names. */
  static void addCounters(MetricsRecordBuilder record, Map<String, Long> counters) {
    if (counters.containsKey("mapped_pages")) {
      record.addGauge(MELDED_SHARE, meldedShare(counters));
    }
    for (Map.Entry<String, Long> counter : counters.entrySet()) {
      MetricsInfo info = Interns.info(counter.getKey(), counter.getKey());
      if (isGauge(counter.getKey())) {
        record.addGauge(info, counter.getValue());
      } else {
        record.addCounter(info, counter.getValue());
      }
    }
  }

  /** Of the pages that hold data, the share that is melded; 0 where none does. */
  public static double meldedShare(Map<String, Long> counters) {
    long mapped = counters.getOrDefault("mapped_pages", 0L);
    return mapped == 0 ? 0 : (double) counters.getOrDefault("melded_mapped_pages", 0L) / mapped;
  }

  /** Whether the value also goes down. */
  static boolean isGauge(String name) {
    return GAUGES.contains(name) || LatencyMetric.isOne(name);
  }
}
