package org.hdfsmeld.datanode.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.hdfsmeld.LogEvents;
import org.hdfsmeld.sim.SimException;
import org.junit.jupiter.api.Test;

class TestSimFailures {
  private final SimFailures failures = new SimFailures();

  @Test
  void eachKindIsLoggedOnceWithItsStackTrace() {
    Throwable thrown = new IllegalStateException("broken {}");
    SimException notOpened = new SimException("no library", thrown);
    IOException io = new IOException("no room");
    try (LogEvents log = new LogEvents(SimFailures.class)) {
      for (int i = 0; i < 2; i++) {
        failures.notStarted(notOpened);
        failures.broken("/data/1", thrown);
        failures.stateNotWritten("ssd0", "a snapshot", io);
        failures.stateRejected(Path.of("/data/1/meld/snapshot"), io);
      }
      assertThat(log.list())
          .extracting(LogEvent::getThrown)
          .containsExactly(notOpened, thrown, io, null);
      assertThat(log.list().get(3).getLevel()).isEqualTo(Level.WARN);
      assertThat(log.list().get(3).getMessage().getFormattedMessage())
          .contains("/data/1/meld/snapshot", "no room", "Nothing needs to be done");
      assertThat(log.list().get(1).getMessage().getFormattedMessage()).contains("broken {}");
    }
  }
}
