package org.hdfsmeld.datanode.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long a call may take; what comes of it is tested with the queue. */
class TestWatchdog {
  @Test
  void aCallIsGivenUpAfterTenSeconds() {
    assertThat(DeviceThread.LOOKS * Watchdog.LOOK_MS).isEqualTo(Duration.ofSeconds(10).toMillis());
  }
}
