package org.hdfsmeld.datanode.metrics;

import java.util.List;

/**
 * A simulated device that volumes share, over JMX: {@code
 * Hadoop:service=DataNode,name=MeldDevice-<device>-<storage uuid of its first volume>}. Its
 * counters are by the names of {@code meldsim_stats}.
 */
public interface MeldDeviceMXBean extends DeviceAttributes {
  /** Folders of the volumes on it at present. */
  List<String> getVolumes();
}
