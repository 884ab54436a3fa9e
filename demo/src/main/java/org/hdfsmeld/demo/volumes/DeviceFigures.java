package org.hdfsmeld.demo.volumes;

import java.util.ArrayList;
import java.util.List;

/**
 * What one simulated device did during a scan; all of it simulated unless it says measured.
 *
 * @param device its number, in the order of the volumes' paths
 * @param readActiveSeconds simulated time with at least one read outstanding
 * @param mibPerSecond bytes read by {@code readActiveSeconds}
 * @param readActiveShare of the stage's time, the part with reads outstanding
 * @param dieUtilisation of {@code readActiveSeconds}, the part in which a die was busy, mean
 * @param channelUtilisation of {@code readActiveSeconds}, the part in which a channel was busy
 * @param readerWaitSeconds measured: time that HDFS calls were blocked waiting for this device
 * @param meldedReadShare of the pages read, those that came by a melded read
 * @param bufferReadShare of the pages read, those that came from the device's write buffer
 * @param timeouts waits that were given up
 */
public record DeviceFigures(
    String device,
    double readMib,
    double readActiveSeconds,
    double mibPerSecond,
    double readActiveShare,
    double dieUtilisation,
    double channelUtilisation,
    double readerWaitSeconds,
    double meldedReadShare,
    double bufferReadShare,
    long timeouts) {
  private static final double MIB = 1L << 20;
  private static final double PS_PER_SECOND = 1e12;

  /**
   * @param stageSeconds the stage's time on the device's clock: wall seconds by dilation
   */
  public static List<DeviceFigures> of(List<Counters> volumes, double stageSeconds) {
    List<DeviceFigures> figures = new ArrayList<>();
    for (int i = 0; i < volumes.size(); i++) {
      figures.add(of(Integer.toString(i), List.of(volumes.get(i)), stageSeconds));
    }
    return figures;
  }

  /** The mean device: totals over all, divided by the time that devices were reading. */
  public static DeviceFigures mean(List<Counters> volumes, double stageSeconds) {
    return of("all", volumes, stageSeconds);
  }

  private static DeviceFigures of(String name, List<Counters> volumes, double stageSeconds) {
    double activeSeconds = Counters.sum(volumes, "read_active_ps") / PS_PER_SECOND;
    double readMib = Counters.sum(volumes, "host_read_bytes") / MIB;
    double dieSeconds = 0;
    double channelSeconds = 0;
    for (Counters volume : volumes) {
      double active = volume.get("read_active_ps") / PS_PER_SECOND;
      dieSeconds += active * (double) volume.get("dies");
      channelSeconds += active * (double) volume.get("channels");
    }
    long melded = Counters.sum(volumes, "melded_pages_read");
    long buffered = Counters.sum(volumes, "buffer_page_reads");
    long pages = volumes.stream().mapToLong(DeviceFigures::pagesRead).sum();
    return new DeviceFigures(
        name,
        readMib,
        activeSeconds,
        ratio(readMib, activeSeconds),
        ratio(activeSeconds, stageSeconds * volumes.size()),
        ratio(Counters.sum(volumes, "die_busy_ps") / PS_PER_SECOND, dieSeconds),
        ratio(Counters.sum(volumes, "channel_busy_ps") / PS_PER_SECOND, channelSeconds),
        Counters.sum(volumes, "reader_wait_ns") / 1e9,
        ratio((double) melded, (double) pages),
        ratio((double) buffered, (double) pages),
        Counters.sum(volumes, "timeouts"));
  }

  /** Pages read in any way. */
  static long pagesRead(Counters volume) {
    return volume.get("page_reads")
        + volume.get("melded_pages_read")
        + volume.get("buffer_page_reads");
  }

  private static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
  }
}
