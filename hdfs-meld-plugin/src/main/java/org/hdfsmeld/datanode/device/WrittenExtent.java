package org.hdfsmeld.datanode.device;

import org.hdfsmeld.model.BlockKey;

/** Where data of a block lies that was given to the device, and that it may not take. */
public interface WrittenExtent {
  BlockKey key();

  /** The device did not take what begins at this logical block. Must not wait. */
  void lost(long slba);
}
