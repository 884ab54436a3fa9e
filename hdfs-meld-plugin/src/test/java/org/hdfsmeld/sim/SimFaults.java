package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;

/**
 * Faults of the simulator. They are in a library of the tests, {@code libmeldsim_testing}: a test
 * that needs them has the tag, which makes it run in a JVM of its own, and opens its devices with
 * {@link #LIBRARY}.
 */
public final class SimFaults {
  /** Tag of the tests that need faults. */
  public static final String TAG = "faults";

  /** Nothing happens any more. */
  public static final int NONE = 0;

  /** A call panics, and the device is out of service. */
  public static final int PANIC = 1;

  /** Calls return {@link #INJECTED}. */
  public static final int ERROR = 2;

  /** What calls return that meet {@link #ERROR}. */
  public static final int INJECTED = -12;

  /** Path of the library; the build sets it. */
  public static final String LIBRARY = System.getProperty("meld.testing.library", "");

  private SimFaults() {}

  /**
   * Makes all open devices of this JVM fail.
   *
   * @param kind {@link #NONE}, {@link #PANIC} or {@link #ERROR}
   * @param afterCalls calls of each device that still succeed
   */
  public static void inject(int kind, long afterCalls) {
    Object[] arguments = {0L, kind, afterCalls};
    int status =
        NativeLibrary.getInstance(LIBRARY)
            .getFunction("meldsim_testing_inject_fault")
            .invokeInt(arguments);
    assertThat(status).isZero();
  }
}
