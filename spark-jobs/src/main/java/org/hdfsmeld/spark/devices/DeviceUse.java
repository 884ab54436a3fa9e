package org.hdfsmeld.spark.devices;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.spark.devices.DataNodeBeans.Bean;
import org.hdfsmeld.spark.measure.StageThroughput;

/**
 * What one simulated device did during a job; all of it simulated.
 *
 * @param device its name, or the volume whose own it is
 * @param mode {@code off}, {@code account} or {@code real-time}
 * @param timeDilation wall seconds of a simulated second, in real-time mode
 * @param healthy whether it was in service at the end
 * @param flashBytes programmed to flash, for whatever
 * @param activeSeconds with at least one command outstanding
 * @param readActiveSeconds with at least one read outstanding
 * @param utilisation {@code activeSeconds} by the wall time in which tasks ran, on the device's
 *     clock; null unless in real-time mode, as only there is one clock
 * @param dieUtilisation of {@code activeSeconds}, the part in which a die was busy, mean
 * @param channelUtilisation of {@code activeSeconds}, the part in which a channel was busy, mean
 * @param readMibPerSecond bytes read by {@code readActiveSeconds}
 * @param meldedReadShare of the pages read, those that came by a melded read
 * @param meldedShare of the pages that hold data at the end, those in the melded layout
 * @param failedCommands completed with a status other than success
 */
public record DeviceUse(
    String device,
    List<String> volumes,
    String profile,
    String mode,
    double timeDilation,
    boolean healthy,
    long readCommands,
    long writeCommands,
    long readBytes,
    long writtenBytes,
    long flashBytes,
    double activeSeconds,
    double readActiveSeconds,
    Double utilisation,
    double dieUtilisation,
    double channelUtilisation,
    double readMibPerSecond,
    double meldedReadShare,
    double meldedShare,
    long failedCommands) {
  private static final double PS_PER_SECOND = 1e12;

  /**
   * @param bean at the end
   * @param grown what its counters grew by
   * @param wallSeconds in which tasks ran
   */
  static DeviceUse of(Bean bean, Map<String, Long> grown, double wallSeconds) {
    double active = seconds(grown, "active_ps");
    double readActive = seconds(grown, "read_active_ps");
    long melded = grown.getOrDefault("melded_pages_read", 0L);
    long pages =
        melded + grown.getOrDefault("page_reads", 0L) + grown.getOrDefault("buffer_page_reads", 0L);
    String mode = bean.text("Mode");
    double dilation = bean.attributes().path("TimeDilation").asDouble(1);
    return new DeviceUse(
        bean.isVolume() ? bean.text("Volume") : bean.text("Device"),
        volumes(bean),
        bean.text("Profile"),
        mode,
        dilation,
        bean.attributes().path("Healthy").asBoolean(),
        grown.getOrDefault("read_commands", 0L),
        grown.getOrDefault("write_commands", 0L),
        grown.getOrDefault("host_read_bytes", 0L),
        grown.getOrDefault("host_written_bytes", 0L),
        grown.getOrDefault("programmed_bytes", 0L),
        active,
        readActive,
        mode.equals("real-time") ? ratio(active * dilation, wallSeconds) : null,
        ratio(seconds(grown, "die_busy_ps"), active * bean.get("dies")),
        ratio(seconds(grown, "channel_busy_ps"), active * bean.get("channels")),
        ratio(grown.getOrDefault("host_read_bytes", 0L) / StageThroughput.MIB, readActive),
        ratio(melded, pages),
        ratio(bean.get("melded_mapped_pages"), bean.get("mapped_pages")),
        grown.getOrDefault("failed_commands", 0L));
  }

  boolean paced() {
    return utilisation != null;
  }

  boolean used() {
    return readCommands + writeCommands > 0;
  }

  static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
  }

  private static List<String> volumes(Bean bean) {
    if (bean.isVolume()) {
      return List.of(bean.text("Volume"));
    }
    List<String> volumes = new ArrayList<>();
    bean.attributes().path("Volumes").forEach(volume -> volumes.add(volume.asText()));
    return volumes;
  }

  private static double seconds(Map<String, Long> grown, String counter) {
    return grown.getOrDefault(counter, 0L) / PS_PER_SECOND;
  }
}
