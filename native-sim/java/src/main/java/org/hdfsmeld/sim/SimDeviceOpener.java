package org.hdfsmeld.sim;

import java.nio.ByteBuffer;

/** Opens simulated devices of the configured profile. */
@FunctionalInterface
public interface SimDeviceOpener {
  SimDevice open() throws SimException;

  /**
   * A device as of a snapshot.
   *
   * @param snapshot a direct buffer with nothing else in it
   * @throws SimException when it is none
   */
  default SimDevice restore(ByteBuffer snapshot) throws SimException {
    throw new SimException(SimStatus.UNSUPPORTED, "this device cannot be restored");
  }

  /** Devices of libmeldsim. */
  static SimDeviceOpener ofLibrary(String library, String profile) {
    return new SimDeviceOpener() {
      @Override
      public SimDevice open() throws SimException {
        return NativeSimDevice.open(library, profile);
      }

      @Override
      public SimDevice restore(ByteBuffer snapshot) throws SimException {
        return NativeSimDevice.restore(library, snapshot);
      }
    };
  }
}
