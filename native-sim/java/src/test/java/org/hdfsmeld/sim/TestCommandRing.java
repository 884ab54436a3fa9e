package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TestCommandRing {
  private final CommandRing ring = new CommandRing();

  private long put(boolean detached) {
    long at = ring.claim();
    ring.publish(at, 0, 1, 0, 1, 0, detached);
    ring.skip();
    return at + 1;
  }

  @Test
  void aSlotIsNotGivenAwayWhileItsTicketIsPending() {
    long first = put(false);
    for (int later = 1; later < CommandRing.SLOTS; later++) {
      put(true);
    }
    assertThat(ring.claim()).isNegative();
    assertThat(ring.isPending(first)).isTrue();
    ring.end(first);
    assertThat(put(false)).isEqualTo(first + CommandRing.SLOTS);
    assertThat(ring.isPending(first)).isFalse();
  }
}
