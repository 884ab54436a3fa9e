package org.hdfsmeld.datanode.metrics;

import java.util.Map;

/** What JMX shows of a simulated device, of one volume or of several. */
public interface DeviceAttributes {
  /** The device's name in {@code dfs.datanode.meld.devices}; empty for a volume's own. */
  String getDevice();

  /** The device's profile. */
  String getProfile();

  /** {@code off}, {@code account} or {@code real-time}; a shared device's is set at its volumes. */
  String getMode();

  /** Wall seconds that one simulated second takes in real-time mode. */
  double getTimeDilation();

  /** False when the simulator is out of service: the volumes on it are stock HDFS. */
  boolean isHealthy();

  /** Text of the simulator's last failure; empty when there was none. */
  String getLastError();

  /** Counters by name. Names end in their unit. */
  Map<String, Long> getCounters();
}
