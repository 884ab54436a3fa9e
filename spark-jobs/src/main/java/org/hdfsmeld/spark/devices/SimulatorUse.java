package org.hdfsmeld.spark.devices;

import java.util.List;
import org.hdfsmeld.spark.devices.DataNodeUse.VolumeUse;
import org.hdfsmeld.spark.measure.StageThroughput;

/**
 * What the simulated devices of the cluster did during a job, and whether it waited for them.
 *
 * @param wallSeconds measured: in which at least one task ran
 * @param readerSeconds measured: run time summed over the tasks that read files, times the threads
 *     that read in each
 * @param writerSeconds measured: run time summed over the tasks that wrote files
 * @param readerWaitShare measured: of {@code readerSeconds}, the part in which the DataNodes' read
 *     path was blocked waiting for a device
 * @param writerWaitShare measured: of {@code writerSeconds}, the same of the write path; each
 *     replica of a block counts
 * @param utilisation simulated: mean of the devices that did anything; null if none is paced
 * @param busiestUtilisation simulated: of the device that was busiest; null if none is paced
 * @param readMibPerSecond simulated: of one device while it is reading, mean by bytes
 * @param writtenBytes simulated: what hosts wrote to the devices
 * @param flashBytes simulated: what the devices programmed
 * @param writeAmplification simulated: {@code flashBytes} by {@code writtenBytes}; null if nothing
 *     was written, or a device refused a command, as one without room does
 * @param lifetimeBlocks new blocks that got a reclaim unit handle by their lifetime
 * @param bottleneck {@code device} if readers waited for one at least {@value #LEAST_WAIT_SHARE} of
 *     their time, else {@code host}; {@code unknown} if a DataNode did not answer
 */
public record SimulatorUse(
    double wallSeconds,
    double readerSeconds,
    double writerSeconds,
    double readerWaitShare,
    double writerWaitShare,
    Double utilisation,
    Double busiestUtilisation,
    double readMibPerSecond,
    long writtenBytes,
    long flashBytes,
    Double writeAmplification,
    long lifetimeBlocks,
    String bottleneck,
    List<DataNodeUse> dataNodes) {
  /** From this share of their time on that readers wait, the device is the bottleneck. */
  static final double LEAST_WAIT_SHARE = 0.90;

  /**
   * Sums up the nodes; the seconds are wall, and run time of the tasks that read and that wrote.
   */
  public static SimulatorUse of(
      List<DataNodeUse> nodes, double wallSeconds, double readerSeconds, double writerSeconds) {
    List<VolumeUse> volumes = nodes.stream().flatMap(node -> node.volumes().stream()).toList();
    List<DeviceUse> devices =
        nodes.stream().flatMap(node -> node.devices().stream()).filter(DeviceUse::used).toList();
    List<Double> paced =
        devices.stream().filter(DeviceUse::paced).map(DeviceUse::utilisation).toList();
    double readers = volumes.stream().mapToDouble(VolumeUse::readerWaitSeconds).sum();
    double writers = volumes.stream().mapToDouble(VolumeUse::writerWaitSeconds).sum();
    double readerWaitShare = DeviceUse.ratio(readers, readerSeconds);
    long written = devices.stream().mapToLong(DeviceUse::writtenBytes).sum();
    long flash = devices.stream().mapToLong(DeviceUse::flashBytes).sum();
    boolean refused = devices.stream().anyMatch(device -> device.failedCommands() > 0);
    return new SimulatorUse(
        wallSeconds,
        readerSeconds,
        writerSeconds,
        readerWaitShare,
        DeviceUse.ratio(writers, writerSeconds),
        paced.isEmpty() ? null : paced.stream().mapToDouble(d -> d).average().orElseThrow(),
        paced.isEmpty() ? null : paced.stream().mapToDouble(d -> d).max().orElseThrow(),
        DeviceUse.ratio(
            devices.stream().mapToLong(DeviceUse::readBytes).sum() / StageThroughput.MIB,
            devices.stream().mapToDouble(DeviceUse::readActiveSeconds).sum()),
        written,
        flash,
        written > 0 && !refused ? DeviceUse.ratio(flash, written) : null,
        volumes.stream().mapToLong(VolumeUse::lifetimeBlocks).sum(),
        bottleneck(nodes, readerWaitShare),
        nodes);
  }

  private static String bottleneck(List<DataNodeUse> nodes, double readerWaitShare) {
    if (nodes.stream().anyMatch(node -> node.error() != null)) {
      return "unknown";
    }
    return readerWaitShare >= LEAST_WAIT_SHARE ? "device" : "host";
  }
}
