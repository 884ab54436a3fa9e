package org.hdfsmeld.spark.devices;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.spark.devices.DataNodeBeans.Bean;

/**
 * What the simulated devices of one DataNode did between two readings.
 *
 * @param error why that is unknown, or only since the DataNode was restarted; null if all is well
 * @param volumes by their bean's name
 * @param devices by their bean's name; volumes that share one name it
 */
public record DataNodeUse(
    String address, String error, List<VolumeUse> volumes, List<DeviceUse> devices) {

  /**
   * What readers and writers of one volume waited for, and how its new blocks were laid out.
   *
   * @param device name of a device that may have other volumes, too; else empty
   * @param readerWaitSeconds measured: time for which HDFS calls were blocked
   * @param hintedBlocks new blocks by who said how to lay them out
   * @param lifetimeBlocks new blocks that got a reclaim unit handle by their lifetime
   * @param fallbacks calls that went on as stock, as the simulator is out of service
   * @param errors simulator calls that failed
   * @param timeouts waits given up
   */
  public record VolumeUse(
      String volume,
      String device,
      double readerWaitSeconds,
      double writerWaitSeconds,
      Map<String, Long> hintedBlocks,
      long lifetimeBlocks,
      long fallbacks,
      long errors,
      long timeouts) {

    private static VolumeUse of(Bean bean, Map<String, Long> grown) {
      Map<String, Long> hinted = new LinkedHashMap<>();
      for (String source : List.of("explicit", "history", "full_block", "none")) {
        hinted.put(source, grown.getOrDefault("hints_" + source, 0L));
      }
      return new VolumeUse(
          bean.text("Volume"),
          bean.text("Device"),
          grown.getOrDefault("reader_wait_ns", 0L) / 1e9,
          grown.getOrDefault("writer_wait_ns", 0L) / 1e9,
          hinted,
          grown.getOrDefault("lifetime_blocks", 0L),
          grown.getOrDefault("fallbacks", 0L),
          grown.getOrDefault("errors", 0L),
          grown.getOrDefault("timeouts", 0L));
    }
  }

  /**
   * @param wallSeconds between the readings, as far as tasks ran
   */
  static DataNodeUse between(DataNodeBeans before, DataNodeBeans after, double wallSeconds) {
    if (before.error() != null) {
      return unknown(before.address(), "before the job: " + before.error());
    }
    if (after.error() != null) {
      return unknown(after.address(), "after the job: " + after.error());
    }
    Map<String, Bean> known = new HashMap<>();
    before.beans().forEach(bean -> known.put(bean.name(), bean));
    // A new device has read nothing and counts from zero; so has every one of a new process.
    boolean restarted =
        after.beans().stream()
            .anyMatch(bean -> known.containsKey(bean.name()) && fell(known.get(bean.name()), bean));
    List<VolumeUse> volumes = new ArrayList<>();
    List<DeviceUse> devices = new ArrayList<>();
    for (Bean bean : after.beans()) {
      Map<String, Long> grown = new HashMap<>(bean.counters());
      if (!restarted && known.containsKey(bean.name())) {
        Bean old = known.get(bean.name());
        grown.replaceAll((name, value) -> value - old.get(name));
      }
      if (bean.isVolume()) {
        volumes.add(VolumeUse.of(bean, grown));
      }
      if (bean.hasDevice()) {
        devices.add(DeviceUse.of(bean, grown, wallSeconds));
      }
    }
    return new DataNodeUse(
        after.address(),
        restarted ? "restarted during the job: counted since then" : null,
        volumes,
        devices);
  }

  private static DataNodeUse unknown(String address, String error) {
    return new DataNodeUse(address, error, List.of(), List.of());
  }

  /** Whether a number that only grows in the life of a DataNode has become smaller. */
  private static boolean fell(Bean before, Bean after) {
    return List.of("now_ps", "reader_wait_ns", "forwarded_reads", "forwarded_writes").stream()
        .anyMatch(counter -> after.get(counter) < before.get(counter));
  }
}
