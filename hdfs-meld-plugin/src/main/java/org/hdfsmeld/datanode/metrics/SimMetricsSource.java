package org.hdfsmeld.datanode.metrics;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsTag;
import org.apache.hadoop.metrics2.lib.Interns;

/** The counters of a volume, or of a shared device, as a metrics2 record in context {@code dfs}. */
public final class SimMetricsSource implements MetricsSource {
  private static final MetricsInfo VOLUME = Interns.info("Volume", "Folder of the volume");
  private static final MetricsInfo STORAGE = Interns.info("StorageId", "Storage uuid");
  private static final MetricsInfo DEVICE = Interns.info("Device", "Name of the shared device");
  private static final MetricsInfo PROFILE = Interns.info("Profile", "Simulated device");
  private static final MetricsInfo MODE = Interns.info("Mode", "How the device takes part");
  private static final MetricsInfo HEALTHY = Interns.info("healthy", "1 while the device serves");

  private static final MetricsInfo MELDED_SHARE =
      Interns.info("melded_share", "Of the pages that hold data, the share that is melded");

  /** What goes up and down; all else only grows. */
  private static final Set<String> GAUGES =
      Set.of(
          """
          channels dies packages planes mapped_pages mapped_bytes precondition_fill_percent
          precondition_random_percent history_entries lifetime_groups crossover_bytes
          melded_mapped_pages free_blocks capacity_pages least_erases most_erases
          firmware_cores outstanding_commands state_snapshot_bytes state_snapshot_stall_ns
          state_journal_lag blocks_mapped unknown_keys counters_pending breaker_open"""
              .split("\\s+"));

  private final String record;
  private final DeviceAttributes device;
  private final List<MetricsTag> tags;

  private SimMetricsSource(String record, DeviceAttributes device, MetricsTag... tags) {
    this.record = record;
    this.device = device;
    this.tags = List.of(tags);
  }

  public static SimMetricsSource of(MeldVolumeMXBean volume, String storageId) {
    MetricsTag folder = new MetricsTag(VOLUME, volume.getVolume());
    return new SimMetricsSource("MeldVolume", volume, folder, new MetricsTag(STORAGE, storageId));
  }

  static SimMetricsSource of(MeldDeviceMXBean device) {
    return new SimMetricsSource("MeldDevice", device, new MetricsTag(DEVICE, device.getDevice()));
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    MetricsRecordBuilder builder = collector.addRecord(record).setContext("dfs");
    tags.forEach(builder::add);
    builder
        .tag(PROFILE, device.getProfile())
        .tag(MODE, device.getMode())
        .addGauge(HEALTHY, device.isHealthy() ? 1 : 0);
    addCounters(builder, device.getCounters());
  }

  public static void addCounters(MetricsRecordBuilder record, Map<String, Long> counters) {
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

  static boolean isGauge(String name) {
    return GAUGES.contains(name)
        || LatencyMetric.ALL.stream().anyMatch(metric -> metric.name().equals(name));
  }
}
