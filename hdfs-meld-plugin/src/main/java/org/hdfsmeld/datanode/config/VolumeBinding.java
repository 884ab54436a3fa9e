package org.hdfsmeld.datanode.config;

/** The device that a volume lies on; it has no name when it is the volume's own. */
public record VolumeBinding(String device, int set, String profile) {
  /** The device gives the volume the next of its sets. */
  public static final int ANY_SET = -1;

  public boolean isShared() {
    return !device.isEmpty();
  }
}
