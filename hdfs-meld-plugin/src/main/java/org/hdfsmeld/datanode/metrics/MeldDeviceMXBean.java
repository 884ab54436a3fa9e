package org.hdfsmeld.datanode.metrics;

import java.util.List;
import java.util.Map;

/**
 * A simulated device that volumes share, over JMX: {@code
 * Hadoop:service=DataNode,name=MeldDevice-<device>-<storage uuid of its first volume>}.
 */
public interface MeldDeviceMXBean {
  /** The device's name in {@code dfs.datanode.meld.devices}. */
  String getDevice();

  /** The device's profile. */
  String getProfile();

  /** Folders of the volumes on it at present. */
  List<String> getVolumes();

  /** {@code off}, {@code account} or {@code real-time}; change it at any of its volumes. */
  String getMode();

  /** Wall seconds that one simulated second takes in real-time mode. */
  double getTimeDilation();

  /** False when the simulator is out of service and all volumes on the device are stock HDFS. */
  boolean isHealthy();

  /** Text of the simulator's last failure; empty when there was none. */
  String getLastError();

  /** The device's statistics by the names of {@code meldsim_stats}. Names end in their unit. */
  Map<String, Long> getCounters();
}
