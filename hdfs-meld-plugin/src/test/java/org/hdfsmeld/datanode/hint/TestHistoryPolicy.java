package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hdfsmeld.datanode.config.HistoryConfiguration;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decisions from reads, with the times of real devices. */
class TestHistoryPolicy {
  private static final long KIB = 1 << 10;
  private static final long MIB = 1 << 20;
  private static final BlockHint OF_FILE = new BlockHint(ReadPattern.UNKNOWN, 0, 7, 70, -1);
  private static final BlockHint NEW_FILE = new BlockHint(ReadPattern.UNKNOWN, 0, 8, 70, -1);
  private static final BlockHint ELSEWHERE = new BlockHint(ReadPattern.UNKNOWN, 0, 9, 90, -1);

  private static LayoutTimes tlc;

  private final Counters<VolumeCounter> counters = new Counters<>(VolumeCounter.class);
  @TempDir Path folder;

  @BeforeAll
  static void measure() throws SimException {
    tlc = times("melded-tlc-8x8");
  }

  private static LayoutTimes times(String profile) throws SimException {
    try (SimDevice device = NativeSimDevice.open("", profile)) {
      return LayoutTimes.measure(device);
    }
  }

  private static ReadMix mix(int runs, long bytes, long outstandingBytes) {
    ReadMix mix = new ReadMix(0);
    for (int i = 0; i < runs; i++) {
      mix.add(bytes, 1, outstandingBytes);
    }
    return mix;
  }

  private static HintDecision decide(ReadMix mix) {
    return HistoryPolicy.decide(tlc, mix, "it");
  }

  @Test
  void theCrossoverIsTheDevicesOwn() throws SimException {
    // docs/reference/results.md, sliding readers: behind at 512 KiB, 1.41 times as fast from 1 MiB
    // on.
    assertThat(tlc.crossoverBytes()).isEqualTo(MIB);
    int mebibyte = 8;
    assertThat(ReadMix.classBytes(mebibyte)).isEqualTo(MIB);
    assertThat(tlc.normal().perByte()[mebibyte + 4] / tlc.melded().perByte()[mebibyte + 4])
        .isCloseTo(1.41, within(0.01));
    assertThat(tlc.normal().burst()[mebibyte]).isCloseTo(364.7e6, within(1e6));
    // A quarter of the dies and their channels are filled by a quarter of the bytes.
    assertThat(times("melded-qlc-8x8").crossoverBytes()).isBetween(MIB, 2 * MIB);
    assertThat(times("optane-900p").crossoverBytes()).isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @CsvSource({
    "134217728, 16777216, SEQUENTIAL",
    "134217728, 2097152, SEQUENTIAL",
    "134217728, 1048576, SEQUENTIAL",
    "134217728, 524288, NONE",
    "134217728, 131072, NONE",
    "1048576, 1048576, NONE",
    "524288, 524288, RANDOM",
    "65536, 65536, RANDOM",
    "4096, 4096, RANDOM",
    "4194304, 4194304, SEQUENTIAL",
  })
  void decidesByRunAndOutstandingBytes(long runBytes, long outstanding, ReadPattern expected) {
    assertThat(decide(mix(10, runBytes, outstanding)).pattern()).isEqualTo(expected);
  }

  @Test
  void inAMixTheTimeCounts() {
    ReadMix mix = mix(1, 128 * MIB, 16 * MIB);
    for (int i = 0; i < 20; i++) {
      mix.add(64 * KIB, 1, 64 * KIB);
    }
    assertThat(decide(mix).pattern()).isEqualTo(ReadPattern.SEQUENTIAL);
    for (int i = 0; i < 400; i++) {
      mix.add(64 * KIB, 1, 64 * KIB);
    }
    assertThat(decide(mix).pattern()).isEqualTo(ReadPattern.RANDOM);
  }

  @Test
  void theReasonSaysHowItWasRead() {
    assertThat(decide(mix(10, 128 * MIB, 16 * MIB)))
        .isEqualTo(
            new HintDecision(
                ReadPattern.SEQUENTIAL,
                HintDecision.Source.HISTORY,
                "reads of it take the device 1.40 times as long normal as melded: 10 runs of"
                    + " 128.000 MiB in requests of 128.000 MiB, 16.000 MiB outstanding"));
  }

  @Test
  void newKindsInADirectoryAreDecidedOnWhenThereIsEnoughHistory() throws Exception {
    try (HistoryPolicy hints = hints(8)) {
      record(hints, OF_FILE, 7);
      assertThat(hints.decide(NEW_FILE)).isEqualTo(HintDecision.BY_SIZE);
      record(hints, OF_FILE, 2);
      awaitTimes(hints);
      assertThat(hints.decide(NEW_FILE).pattern()).isEqualTo(ReadPattern.RANDOM);
      assertThat(hints.decide(NEW_FILE).reason()).contains("its directory");
      assertThat(hints.decide(OF_FILE).reason()).contains("its kind");
      assertThat(hints.decide(ELSEWHERE)).isEqualTo(HintDecision.BY_SIZE);
    }
  }

  /** There are as many blocks as replicas: a reason of its own would be the most of each. */
  @Test
  void blocksOfAKindShareTheirReasonUntilItsPatternChanges() throws Exception {
    try (HistoryPolicy hints = hints(8)) {
      record(hints, OF_FILE, 9);
      awaitTimes(hints);
      HintDecision first = hints.decide(OF_FILE);
      record(hints, OF_FILE, 1);
      assertThat(hints.decide(OF_FILE)).isSameAs(first);
      for (int i = 0; i < 9; i++) {
        hints.record(OF_FILE, 7, true, 128 * MIB, 2048, 16 * MIB);
      }
      assertThat(hints.decide(OF_FILE).pattern()).isEqualTo(ReadPattern.SEQUENTIAL);
    }
  }

  @Test
  void theKindCountsMoreThanItsDirectory() throws Exception {
    try (HistoryPolicy hints = hints(8)) {
      record(hints, OF_FILE, 100);
      for (int i = 0; i < 9; i++) {
        hints.record(NEW_FILE, 8, true, 128 * MIB, 2048, 16 * MIB);
      }
      awaitTimes(hints);
      assertThat(hints.decide(NEW_FILE).pattern()).isEqualTo(ReadPattern.SEQUENTIAL);
      assertThat(hints.decide(OF_FILE).pattern()).isEqualTo(ReadPattern.RANDOM);
    }
  }

  @Test
  void aKindIsDescribedByWhatIsKnownOfIt() throws Exception {
    try (HistoryPolicy hints = hints(8)) {
      assertThat(hints.describe(7)).isEqualTo("nothing known");
      record(hints, OF_FILE, 9);
      hints.died(OF_FILE.bornAt(System.currentTimeMillis() - 7_200_000), 7);
      assertThat(hints.describe(7))
          .isEqualTo(
              "9 runs of 0.063 MiB in requests of 0.063 MiB, 0.063 MiB outstanding, of 9 blocks;"
                  + " 1 blocks deleted after 2.00 hours");
    }
  }

  @Test
  void historySurvivesARestart() throws Exception {
    String reason;
    try (HistoryPolicy hints = hints(8)) {
      record(hints, OF_FILE, 9);
      awaitTimes(hints);
      reason = hints.decide(NEW_FILE).reason();
    }
    try (HistoryPolicy again = hints(8)) {
      awaitTimes(again);
      assertThat(again.decide(NEW_FILE).reason()).isEqualTo(reason);
    }
    assertThat(counters.values()).containsEntry("history_resets", 0L);
    assertThat(folder.resolve("meld-read-history.tmp")).doesNotExist();
  }

  @Test
  void aDamagedHistoryBeginsAnewAndIsCounted() throws Exception {
    Files.writeString(folder.resolve(HistoryFile.NAME), "damaged");
    try (HistoryPolicy hints = hints(8)) {
      assertThat(hints.size()).isZero();
      assertThat(counters.values()).containsEntry("history_resets", 1L);
      record(hints, OF_FILE, 9);
    }
    try (HistoryPolicy again = hints(8)) {
      assertThat(again.size()).isEqualTo(2);
      assertThat(counters.values()).containsEntry("history_resets", 1L);
    }
  }

  @Test
  void aVolumeThatCannotBeWrittenIsCounted() throws Exception {
    try (HistoryPolicy hints =
        new HistoryPolicy(new File("/no/such/volume"), config(8), this::device, counters)) {
      record(hints, OF_FILE, 1);
    }
    assertThat(counters.values()).containsEntry("history_save_errors", 1L);
  }

  @Test
  void noErrorEndsTheScheduleAndWhatIsNotSavedIsSavedLater() throws Exception {
    KindHistory full = mock(KindHistory.class);
    doThrow(new OutOfMemoryError("Java heap space")).when(full).write(any());
    assertThat(new HistoryFile(folder.toFile()).save(full)).isFalse();
    Path inTheWay = folder.resolve(HistoryFile.NAME + ".tmp");
    Files.createDirectories(inTheWay.resolve("not-empty"));
    try (HistoryPolicy hints =
        new HistoryPolicy(folder.toFile(), config(8, 20), this::device, counters)) {
      record(hints, OF_FILE, 1);
      await().until(() -> counters.get(VolumeCounter.HISTORY_SAVE_ERRORS) >= 2);
      // In one step: the schedule writes its file as soon as the place is free.
      Files.move(inTheWay, folder.resolve("out-of-the-way"));
      await().until(() -> Files.exists(folder.resolve(HistoryFile.NAME)));
    }
  }

  @Test
  void aDeviceThatCannotBeMeasuredLeavesItToTheSize() throws Exception {
    try (HistoryPolicy hints =
        new HistoryPolicy(
            folder.toFile(),
            config(1),
            () -> {
              throw new SimException("no library", null);
            },
            counters)) {
      record(hints, OF_FILE, 100);
      assertThat(hints.decide(NEW_FILE)).isEqualTo(HintDecision.BY_SIZE);
    }
  }

  private HistoryPolicy hints(int minRuns) {
    return new HistoryPolicy(folder.toFile(), config(minRuns), this::device, counters);
  }

  private SimDevice device() throws SimException {
    return NativeSimDevice.open("", "melded-tlc-8x8");
  }

  private static HistoryConfiguration config(int minRuns) {
    return config(minRuns, 0);
  }

  private static HistoryConfiguration config(int minRuns, long saveIntervalMs) {
    return new HistoryConfiguration(
        HistoryConfiguration.Automatic.HISTORY,
        86_400_000,
        minRuns,
        100,
        saveIntervalMs,
        3_600_000);
  }

  /** Standalone reads of 64 KiB. */
  private static void record(HistoryPolicy hints, BlockHint hint, int runs) {
    for (int i = 0; i < runs; i++) {
      hints.record(hint, hint.kind(), true, 64 * KIB, 1, 64 * KIB);
    }
  }

  private static void awaitTimes(HistoryPolicy hints) {
    await().until(() -> hints.times() != null);
  }
}
