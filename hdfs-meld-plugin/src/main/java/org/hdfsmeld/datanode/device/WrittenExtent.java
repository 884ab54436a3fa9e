package org.hdfsmeld.datanode.device;

/** Where data lies that was given to the device, and that it may not take. */
public interface WrittenExtent {
  /** The device did not take what begins at this logical block. Must not wait. */
  void lost(long slba);
}
