package org.hdfsmeld.datanode.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.hdfsmeld.sim.SimDevice;

/** Memory outside of the Java heap for one snapshot of a device after the other. For one thread. */
public final class ImageBuffer {
  private final long maxBytes;
  private ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);

  /** A buffer of 1 MiB, which grows to {@code maxBytes} if it must. */
  ImageBuffer(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * A device's snapshot, which is there until the next is taken.
   *
   * @throws IOException when the device is out of service, or the snapshot larger than {@code
   *     maxBytes}
   */
  public ByteBuffer take(SimDevice device) throws IOException {
    while (true) {
      long size = device.snapshot(memory);
      if (size <= memory.capacity()) {
        return memory.slice(0, (int) size);
      }
      StateSnapshot.checkSize(size, maxBytes);
      // The device may change before the next call.
      memory = ByteBuffer.allocateDirect((int) Math.min(maxBytes, size + size / 8));
    }
  }
}
