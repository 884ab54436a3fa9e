package org.hdfsmeld.demo.layout;

import java.util.List;
import org.hdfsmeld.demo.volumes.Counters;
import org.hdfsmeld.demo.volumes.DeviceFigures;
import org.hdfsmeld.demo.volumes.Sampler;
import org.hdfsmeld.spark.scan.TableScan;

/**
 * One scan of the data.
 *
 * @param name stock, normal or melded
 * @param paced whether readers waited for the simulated devices
 * @param wallSeconds measured: time of the stage that read
 * @param wallMibPerSecond measured: what Spark saw on the wall clock
 * @param endToEndMibPerSecond what Spark saw in device time, that is wall time by dilation; for
 *     stock, which has no device time, the measured {@code wallMibPerSecond}
 * @param readerWaitShare measured: of the tasks' run time, the part in which the read path was
 *     blocked waiting for a device
 * @param all the devices together; null for stock
 * @param devices each device; empty for stock
 * @param samples pages read by time; empty for stock
 */
public record VariantResult(
    String name,
    boolean paced,
    double dilation,
    double wallSeconds,
    double wallMibPerSecond,
    double endToEndMibPerSecond,
    double readerWaitShare,
    DeviceFigures all,
    List<DeviceFigures> devices,
    List<Sampler.Sample> samples,
    TableScan.Result scan) {
  private static final double MIB = 1L << 20;

  /** A scan without simulated devices. */
  public static VariantResult stock(TableScan.Result scan) {
    double rate = scan.fileBytes() / MIB / scan.wallSeconds();
    return new VariantResult(
        "stock", false, 1, scan.wallSeconds(), rate, rate, 0, null, List.of(), List.of(), scan);
  }

  /** A scan that took device time, from what the devices counted meanwhile. */
  public static VariantResult paced(
      String name,
      double dilation,
      TableScan.Result scan,
      List<Counters> volumes,
      List<Sampler.Sample> samples) {
    double rate = scan.fileBytes() / MIB / scan.wallSeconds();
    double stageSeconds = scan.wallSeconds() / dilation;
    DeviceFigures all = DeviceFigures.mean(volumes, stageSeconds);
    return new VariantResult(
        name,
        true,
        dilation,
        scan.wallSeconds(),
        rate,
        rate * dilation,
        all.readerWaitSeconds() / scan.taskSeconds(),
        all,
        DeviceFigures.of(volumes, stageSeconds),
        List.copyOf(samples),
        scan);
  }

  /** What was read. */
  String content() {
    return scan.rows() + " " + scan.checksum();
  }

  /** Measured: what one reader got while its task ran. */
  public double readerMibPerSecond() {
    return scan.fileBytes() / MIB / scan.taskSeconds();
  }
}
