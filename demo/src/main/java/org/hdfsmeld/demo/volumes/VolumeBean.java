package org.hdfsmeld.demo.volumes;

import java.util.Map;

/** The plugin's MXBean of one volume, as far as the demo uses it. */
public interface VolumeBean {
  /** Path of the volume. */
  String getVolume();

  /** {@code off}, {@code account} or {@code real-time}. */
  String getMode();

  /** Changes the mode while the DataNode runs. */
  void setMode(String mode);

  /** Wall seconds that a simulated second takes in real-time mode. */
  void setTimeDilation(double dilation);

  /** Whether full-size blocks are written with the sequential directive. */
  void setHintFullBlockSequential(boolean hint);

  /** Whether the simulator works. */
  boolean isHealthy();

  /** Text of the simulator's last failure; empty when there was none. */
  String getLastError();

  /** Everything that is counted. */
  Map<String, Long> getCounters();
}
