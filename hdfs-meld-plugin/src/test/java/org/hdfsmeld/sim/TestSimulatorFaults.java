package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The binding against a library that fails on demand. */
@Tag(SimFaults.TAG)
class TestSimulatorFaults {
  @Test
  void injectedFaultsStrike() throws SimException {
    try (SimDevice device = NativeSimDevice.open(SimFaults.LIBRARY, "melded-tlc-8x8")) {
      int nsid = device.createNamespace(1L << 30).nsid();
      SimFaults.inject(SimFaults.ERROR, 1);
      assertThat(read(device, nsid)).isZero();
      assertThat(read(device, nsid)).isEqualTo(SimFaults.INJECTED);
      assertThat(device.lastError()).isEqualTo("injected error");
      assertThat(SimStatus.isFatal(SimFaults.INJECTED)).isFalse();
      SimFaults.inject(SimFaults.NONE, 0);
      assertThat(read(device, nsid)).isZero();
      SimFaults.inject(SimFaults.PANIC, 0);
      assertThat(read(device, nsid)).isEqualTo(SimStatus.PANIC);
      assertThat(read(device, nsid)).isEqualTo(SimStatus.PANIC);
      assertThat(SimStatus.isFatal(SimStatus.PANIC)).isTrue();
    }
  }

  private static long read(SimDevice device, int nsid) {
    return device.submit(Opcode.READ, nsid, 0, 1, Directive.NONE, true);
  }
}
