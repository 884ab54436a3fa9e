package org.hdfsmeld.datanode.config;

/**
 * The device that a volume lies on.
 *
 * @param device name of a device that several volumes may share, or empty for one of its own
 * @param set NVM set of the shared device, or {@link #ANY_SET}
 * @param profile the device's profile
 */
public record VolumeBinding(String device, int set, String profile) {
  /** The device gives the volume the next of its sets. */
  public static final int ANY_SET = -1;

  public boolean isShared() {
    return !device.isEmpty();
  }
}
