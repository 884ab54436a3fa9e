package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TestCircuitBreaker {
  // Close to where nanoTime wraps around.
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 3);
  private final CircuitBreaker breaker = new CircuitBreaker(now::get);

  @Test
  void beginsUntriedWithoutAPause() {
    assertThat(breaker.state()).isEqualTo(CircuitBreaker.State.UNTRIED);
    assertThat(breaker.pauseNs()).isZero();
  }

  @Test
  void afterAFailureItStaysOpenUntilAnAnswerInTime() {
    breaker.open(10);
    assertThat(breaker.pauseNs()).isEqualTo(10);
    now.addAndGet(4);
    assertThat(breaker.pauseNs()).isEqualTo(6);
    now.addAndGet(6);
    assertThat(breaker.pauseNs()).as("may be tried").isZero();
    assertThat(breaker.state()).isEqualTo(CircuitBreaker.State.OPEN);
    breaker.open(10);
    assertThat(breaker.pauseNs()).isEqualTo(10);
    breaker.close();
    assertThat(breaker.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    assertThat(breaker.pauseNs()).isZero();
  }
}
