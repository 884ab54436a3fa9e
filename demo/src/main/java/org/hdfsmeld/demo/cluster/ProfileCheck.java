package org.hdfsmeld.demo.cluster;

import java.util.Locale;
import java.util.Optional;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;

/** Tries the device's profile before anything is started, as a DataNode would only log it. */
public final class ProfileCheck {
  private static final long MIB = 1L << 20;
  private static final String PACKED_LIBRARY = "";

  // Any size: namespaces are thin.
  private static final long PROBE_BYTES = 1L << 30;

  private ProfileCheck() {}

  /**
   * What is wrong with the profile, if anything.
   *
   * @param neededBytes what each device must hold
   * @throws SimException when the simulator cannot be used at all
   */
  public static Optional<String> problem(String profile, long neededBytes) throws SimException {
    try (SimDevice device = NativeSimDevice.open(PACKED_LIBRARY, profile)) {
      long capacity = device.createNamespace(PROBE_BYTES).capacityBytes();
      if (capacity < neededBytes) {
        return Optional.of(
            String.format(
                Locale.ROOT,
                "--profile: a device of %s holds %,d MiB, and would have to hold %,d MiB;"
                    + " name another profile, or lower --scale",
                profile,
                capacity / MIB,
                neededBytes / MIB));
      }
      return Optional.empty();
    } catch (SimException e) {
      if (e.status() == SimStatus.PROFILE) {
        return Optional.of("--profile: " + e.getMessage());
      }
      throw e;
    }
  }
}
