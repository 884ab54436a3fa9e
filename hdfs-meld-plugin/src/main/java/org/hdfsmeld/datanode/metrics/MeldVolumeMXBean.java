package org.hdfsmeld.datanode.metrics;

import java.util.Map;

/** A volume's simulated device: {@code Hadoop:service=DataNode,name=MeldVolume-<storage uuid>}. */
public interface MeldVolumeMXBean extends DeviceAttributes {
  /** The volume's folder. */
  String getVolume();

  /**
   * Changes the mode of the device, and so of all volumes on it, while the DataNode runs.
   *
   * @throws IllegalArgumentException on a mode that does not exist
   * @throws IllegalStateException when the device cannot be opened; says what to do
   */
  void setMode(String mode);

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

  /**
   * What the volume's namespace counts, by the names of {@code meldsim_namespace_stats}, and the
   * plugin's own counters. The statistics of the device are here too, unless volumes share it: then
   * they are in {@link MeldDeviceMXBean}.
   */
  @Override
  Map<String, Long> getCounters();

  /** Of the volume's pages that hold data, the share on flash in the melded layout; 0 to 1. */
  double getMeldedShare();
}
