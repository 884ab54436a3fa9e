package org.hdfsmeld.datanode.metrics;

import java.util.List;
import java.util.Map;

/**
 * A simulated device that volumes share, over JMX: {@code
 * Hadoop:service=DataNode,name=MeldDevice-<device>-<storage uuid of its first volume>}.
 */
public interface MeldDeviceMXBean extends DeviceAttributes {
  /** Folders of the volumes on it at present. */
  List<String> getVolumes();

  /** The device's statistics by the names of {@code meldsim_stats}. */
  @Override
  Map<String, Long> getCounters();
}
