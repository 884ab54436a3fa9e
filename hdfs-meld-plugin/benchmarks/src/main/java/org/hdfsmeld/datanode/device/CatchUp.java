package org.hdfsmeld.datanode.device;

/** Ends what account mode leaves to do beside HDFS. */
public final class CatchUp {
  private CatchUp() {}

  /** Waits until the device has simulated all that it was given. */
  public static void with(MeldDevice device) {
    device.deferred().drain();
  }
}
