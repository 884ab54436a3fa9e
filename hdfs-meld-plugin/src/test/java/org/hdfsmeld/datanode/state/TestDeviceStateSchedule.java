package org.hdfsmeld.datanode.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.StateCounter;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The state goes on being written, whatever happens meanwhile. */
class TestDeviceStateSchedule {
  private static final BlockRecord RECORD =
      new BlockRecord(
          1,
          new BlockKey("BP-1", 1),
          1,
          1,
          new long[] {0},
          HintDecision.BY_SIZE,
          BlockHint.NONE,
          0);

  @TempDir Path dir;

  private final Counters<StateCounter> counters = new Counters<>(StateCounter.class);
  private final ScheduledExecutorService writer = Executors.newSingleThreadScheduledExecutor();

  private DeviceState state() throws Exception {
    return new DeviceState(
        "d",
        MeldConfiguration.read(new Configuration()).state(),
        () -> List.of(dir.resolve("meld")),
        image -> new StateSnapshot("", "", 1, "", List.of(), List.of(), ByteBuffer.allocate(1)),
        0,
        new SimFailures(),
        counters,
        writer,
        System::nanoTime);
  }

  @AfterEach
  void stop() {
    writer.shutdownNow();
  }

  /** The files go with their volume. */
  @Test
  void whatIsAsTheFilesSayIsWrittenWhenTheyGo() throws Exception {
    DeviceState state = state();
    state.start(true);
    state.foldersChanged();
    await().until(() -> counters.get(StateCounter.STATE_SNAPSHOTS) == 1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingThatIsThrownEndsIt(boolean isError) throws Exception {
    DeviceState state = state();
    state.start(false);
    await().until(() -> counters.get(StateCounter.STATE_SNAPSHOTS) == 1);
    state.changed(
        () -> {
          if (isError) {
            throw new OutOfMemoryError("Direct buffer memory");
          }
          throw new IllegalStateException("unexpected");
        });
    await().until(() -> counters.get(StateCounter.STATE_ERRORS) == 1);
    state.changed(() -> RECORD);
    await().until(() -> counters.get(StateCounter.STATE_JOURNAL_RECORDS) == 1);
    assertThat(counters.get(StateCounter.STATE_ERRORS)).as("it is not tried again").isEqualTo(1);
  }

  @Test
  void aChangeForWhichThereIsNoRoomIsRefused() throws Exception {
    DeviceState state = state();
    for (int i = 0; i < DeviceState.QUEUE_BLOCKS; i++) {
      assertThat(state.changed(() -> RECORD)).isTrue();
    }
    assertThat(state.changed(() -> RECORD)).isFalse();
    assertThat(counters.get(StateCounter.STATE_OVERFLOWS)).isEqualTo(1);
  }
}
