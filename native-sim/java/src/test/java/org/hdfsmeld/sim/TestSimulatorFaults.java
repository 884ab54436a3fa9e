package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The binding against {@code libmeldsim_testing}, a library that fails on demand. The tag makes it
 * run in a JVM of its own, for a JVM loads one library only.
 */
@Tag("faults")
class TestSimulatorFaults {
  private static final int NONE = 0;
  private static final int PANIC = 1;
  private static final int ERROR = 2;

  /** What calls return that meet {@link #ERROR}. */
  private static final int INJECTED = -12;

  /** The build sets it. */
  private static final String LIBRARY = System.getProperty("meld.testing.library");

  @Test
  void injectedFaultsStrike() throws SimException {
    try (SimDevice device = NativeSimDevice.open(LIBRARY, "melded-tlc-8x8")) {
      int nsid = device.createNamespace(1L << 30).nsid();
      inject(ERROR, 1);
      assertThat(read(device, nsid)).isZero();
      assertThat(read(device, nsid)).isEqualTo(INJECTED);
      assertThat(device.lastError()).isEqualTo("injected error");
      assertThat(SimStatus.isFatal(INJECTED)).isFalse();
      inject(NONE, 0);
      assertThat(read(device, nsid)).isZero();
      inject(PANIC, 0);
      assertThat(read(device, nsid)).isEqualTo(SimStatus.PANIC);
      assertThat(read(device, nsid)).isEqualTo(SimStatus.PANIC);
      assertThat(SimStatus.isFatal(SimStatus.PANIC)).isTrue();
    }
  }

  /** Makes all open devices of this JVM fail, after so many calls that still succeed. */
  private static void inject(int kind, long afterCalls) {
    Object[] arguments = {0L, kind, afterCalls};
    int status =
        NativeLibrary.getInstance(LIBRARY)
            .getFunction("meldsim_testing_inject_fault")
            .invokeInt(arguments);
    assertThat(status).isZero();
  }

  private static long read(SimDevice device, int nsid) {
    return device.submit(Opcode.READ, nsid, 0, 1, Directive.NONE, true);
  }
}
