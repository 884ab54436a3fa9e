package org.hdfsmeld.datanode.metrics;

import java.util.Map;

/**
 * The simulated device of one DataNode volume over JMX: {@code
 * Hadoop:service=DataNode,name=MeldVolume-<storage uuid>}.
 */
public interface MeldVolumeMXBean {
  /** The volume's folder. */
  String getVolume();

  /** The device's profile. */
  String getProfile();

  /** Name of the device, when it may have other volumes too; else empty. */
  String getDevice();

  /** {@code off}, {@code account} or {@code real-time}. */
  String getMode();

  /**
   * Changes the mode of the device, and so of all volumes on it, while the DataNode runs.
   *
   * @throws IllegalArgumentException on a mode that does not exist
   * @throws IllegalStateException when the device cannot be opened; says what to do
   */
  void setMode(String mode);

  /** Wall seconds that one simulated second takes in real-time mode. */
  double getTimeDilation();

  /**
   * Changes the dilation of the device, and so of all volumes on it, while the DataNode runs.
   *
   * @throws IllegalArgumentException on a dilation outside of 0.001 to 1000000
   */
  void setTimeDilation(double timeDilation);

  /** Whether full-size blocks are written with the sequential directive. */
  boolean isHintFullBlockSequential();

  /** Switches the directive for blocks written from now on. */
  void setHintFullBlockSequential(boolean enabled);

  /** False when the simulator is out of service and the volume is stock HDFS. */
  boolean isHealthy();

  /** Text of the simulator's last failure; empty when there was none. */
  String getLastError();

  /**
   * The device's statistics by the names of {@code meldsim_stats} and the plugin's own counters.
   * Names end in their unit. The statistics of a device that volumes share are in {@link
   * MeldDeviceMXBean} instead.
   */
  Map<String, Long> getCounters();

  /** Of the device's pages that hold data, the share on flash in the melded layout; 0 to 1. */
  double getMeldedShare();
}
