package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.ReadPattern;
import org.junit.jupiter.api.Test;

/** What is remembered of kinds, for how long, and what is left of it in a file. */
class TestKindHistory {
  private static final long HALF_LIFE = 1000;
  private static final long HOUR_MS = 3_600_000;
  private static final int HANDLES = 8;
  private static final long MIB = 1 << 20;
  private static final long KIND = 7;
  private static final long PARENT = 70;
  private static final BlockHint HINT = hint(KIND, PARENT);

  private final AtomicLong clock = new AtomicLong(HOUR_MS);
  private final KindHistory history = history(100);

  private static BlockHint hint(long kind, long parent) {
    return new BlockHint(ReadPattern.UNKNOWN, 0, kind, parent, BlockHint.NOBODY);
  }

  private KindHistory history(int maxKinds) {
    return new KindHistory(maxKinds, HALF_LIFE, HOUR_MS, clock::get);
  }

  private static void record(KindHistory into, BlockHint hint) {
    into.record(hint, hint.kind(), true, 4 * MIB, 64, MIB);
  }

  private double runs(long kind) {
    return history.look(kind).mix.runs();
  }

  @Test
  void countsRunsOfTheKindAndOfItsParent() {
    record(history, HINT);
    record(history, hint(8, PARENT));
    history.record(HINT, KIND, false, 4 * MIB, 64, MIB);
    assertThat(runs(KIND)).isEqualTo(2);
    assertThat(runs(PARENT)).isEqualTo(3);
    assertThat(history.look(PARENT).blocks).isEqualTo(2);
    assertThat(history.look(PARENT).mix.runBytes()).isEqualTo(4 * MIB);
    assertThat(history.look(PARENT).mix.requestBytes()).isEqualTo(64 << 10);
    assertThat(history.look(PARENT).mix.outstandingBytes()).isEqualTo(MIB);
    assertThat(history.look(9)).isNull();
  }

  /** The next blocks of a writer that renames begin there again. */
  @Test
  void countsForTheKindThatTheBlockBeganAsToo() {
    history.record(HINT, 5, true, 4 * MIB, 64, MIB);
    history.record(HINT, PARENT, true, 4 * MIB, 64, MIB);
    assertThat(runs(5)).isEqualTo(1);
    assertThat(runs(KIND)).isEqualTo(2);
    assertThat(runs(PARENT)).isEqualTo(2);
  }

  @Test
  void twoPathsOfOneKeyAreReadAsOne() {
    record(history, HINT);
    history.record(HINT, KIND, true, 64, 1, 64);
    assertThat(runs(KIND)).isEqualTo(2);
    record(history, hint(KIND, KIND));
    assertThat(history.size()).isEqualTo(2);
  }

  @Test
  void whatIsNotKnownIsNothing() {
    record(history, BlockHint.NONE);
    assertThat(history.died(BlockHint.NONE.bornAt(1), 0)).isFalse();
    assertThat(history.died(HINT, KIND)).isFalse();
    assertThat(history.handle(BlockHint.NONE, HANDLES)).isZero();
    assertThat(history.size()).isZero();
  }

  @Test
  void aHalfLifeHalves() {
    record(history, HINT);
    record(history, HINT);
    clock.addAndGet(HALF_LIFE);
    assertThat(runs(KIND)).isCloseTo(1, within(1e-6));
    record(history, HINT);
    clock.addAndGet(2 * HALF_LIFE);
    assertThat(runs(KIND)).isCloseTo(0.5, within(1e-6));
    assertThat(history.look(KIND).mix.runBytes()).isCloseTo(4 * MIB, within(1.0));
  }

  @Test
  void aClockThatJumpsIsSurvived() {
    record(history, HINT);
    clock.addAndGet(-500_000);
    assertThat(runs(KIND)).isEqualTo(1);
    clock.addAndGet(Long.MAX_VALUE / 2);
    assertThat(runs(KIND)).isZero();
    record(history, HINT);
    assertThat(runs(KIND)).isEqualTo(1);
  }

  @Test
  void kindsThatAreUsedMostStayBesideAFloodOfOthers() {
    for (int i = 0; i < 20; i++) {
      record(history, HINT);
    }
    for (int i = 0; i < 50_000; i++) {
      record(history, hint(1000 + 2 * i, 1001 + 2 * i));
    }
    assertThat(history.size()).isLessThanOrEqualTo(100);
    assertThat(runs(KIND)).isEqualTo(20);
    assertThat(runs(PARENT)).isEqualTo(20);
    assertThat(history.look(1000 + 2 * 49_999)).as("the last ones are there").isNotNull();
    KindHistory one = history(1);
    record(one, HINT);
    assertThat(one.size()).isEqualTo(1);
  }

  private static BlockHint kind(long key) {
    return hint(key, 0);
  }

  private int handle(long kind, double hours) {
    clock.set(HOUR_MS + (long) (hours * HOUR_MS));
    return history.handle(kind(kind), HANDLES);
  }

  private boolean died(BlockHint hint, double lifeHours) {
    clock.set(HOUR_MS + (long) (lifeHours * HOUR_MS));
    return history.died(hint.bornAt(HOUR_MS), hint.kind());
  }

  /** The classes of meldsim's experiment hdfs-lifetimes, by the same examples. */
  @Test
  void classesAreFourTimesAsLongEach() {
    double[] hours = {0.5, 1.0, 3.9, 4.0, 16.0, 64.0, 256.0, 1023.0, 1025.0, 1e6};
    int[] classes = {1, 2, 2, 3, 4, 5, 6, 6, 7, 7};
    for (int i = 0; i < hours.length; i++) {
      assertThat(history.classOf(hours[i] * HOUR_MS, HANDLES)).isEqualTo(classes[i]);
    }
    assertThat(history.classOf(1e6 * HOUR_MS, 2)).isEqualTo(1);
    assertThat(history.classOf(1e6 * HOUR_MS, 3)).isEqualTo(2);
    KindHistory ofSeconds = new KindHistory(100, HALF_LIFE, 1000, clock::get);
    assertThat(ofSeconds.classOf(999, HANDLES)).isEqualTo(1);
    assertThat(ofSeconds.classOf(4000, HANDLES)).isEqualTo(3);
  }

  @Test
  void aKindIsKnownByItsDeletionsAndBeforeThemByItsAge() {
    assertThat(handle(1, 0)).isZero();
    assertThat(handle(1, 5)).isEqualTo(3);
    assertThat(died(kind(1), 0.5)).isTrue();
    assertThat(handle(1, 6)).isEqualTo(1);
    // The geometric mean of 0.5 and 8 hours is 2 hours.
    died(kind(1), 8);
    assertThat(handle(1, 6)).isEqualTo(2);
    assertThat(handle(2, 6)).isZero();
    for (int i = 0; i < 1000; i++) {
      died(kind(1), 100);
    }
    assertThat(handle(1, 7)).as("what was long ago is forgotten").isEqualTo(5);
    assertThat(history.mortal()).isEqualTo(1);
  }

  @Test
  void aKindOfWhichNoneHasDiedGoesWithItsParent() {
    died(hint(1, PARENT), 20);
    clock.set(HOUR_MS);
    assertThat(history.handle(hint(2, PARENT), HANDLES)).isEqualTo(4);
    // It has outlived them since.
    clock.set(HOUR_MS + 70 * HOUR_MS);
    assertThat(history.handle(hint(2, PARENT), HANDLES)).isEqualTo(5);
    assertThat(history.handle(hint(3, PARENT), HANDLES)).isEqualTo(4);
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    for (int i = 0; i < 60; i++) {
      record(history, i % 2 == 0 ? HINT : kind(1000 + i));
    }
    // Less room: those used most stay.
    KindHistory small = history(3);
    HistoryFile.decode(HistoryFile.encode(history), small);
    assertThat(small.size()).isEqualTo(3);
    assertThat(small.look(KIND).blocks).isEqualTo(30);
    died(HINT, 0.5);
    died(kind(2), 100);
    handle(3, 1);
    assertThat(history.takeChanged()).isTrue();
    assertThat(history.takeChanged()).isFalse();
    byte[] bytes = HistoryFile.encode(history);
    KindHistory read = history(100);
    HistoryFile.decode(bytes, read);
    assertThat(read.size()).isEqualTo(34);
    assertThat(read.look(KIND).blocks).isEqualTo(30);
    for (long kind : new long[] {KIND, 2, 3}) {
      assertThat(read.handle(kind(kind), HANDLES)).isEqualTo(history.handle(kind(kind), HANDLES));
    }
    assertThat(HistoryFile.encode(read)).hasSameSizeAs(bytes);
  }

  @Test
  void oneOfAnOlderVersionIsLeftOut() throws IOException {
    record(history, HINT);
    byte[] bytes = HistoryFile.encode(history);
    ByteBuffer older = ByteBuffer.wrap(bytes.clone()).putInt(8, 1);
    int body = bytes.length - Integer.BYTES;
    older.putInt(body, HistoryFile.checksum(older.array(), body));
    KindHistory read = history(100);
    HistoryFile.decode(older.array(), read);
    assertThat(read.size()).isZero();
  }

  @Test
  void whileItIsSavedRunsAreRecorded() throws Exception {
    record(history, HINT);
    FutureTask<Void> recording = new FutureTask<>(() -> record(history, kind(8)), null);
    OutputStream file =
        new ByteArrayOutputStream() {
          @Override
          public void write(byte[] b, int offset, int length) {
            new Thread(recording).start();
            try {
              recording.get(10, TimeUnit.SECONDS);
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            super.write(b, offset, length);
          }
        };
    history.write(new DataOutputStream(file));
    assertThat(history.size()).isEqualTo(3);
  }

  @Test
  void everyTruncationAndEveryChangedBitIsNoticed() throws IOException {
    for (int i = 0; i < 5; i++) {
      record(history, kind(1 + i));
    }
    byte[] bytes = HistoryFile.encode(history);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> HistoryFile.decode(cut, history(100)))
          .isInstanceOf(IOException.class);
    }
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] changed = bytes.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> HistoryFile.decode(changed, history(100)))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void garbageUnderAValidChecksumIsNoticedToo() throws IOException {
    record(history, HINT);
    byte[] bytes = HistoryFile.encode(history);
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      byte[] garbage = random.nextBoolean() ? bytes.clone() : new byte[random.nextInt(200) + 16];
      int changes = 1 + random.nextInt(garbage.length);
      for (int change = 0; change < changes; change++) {
        garbage[random.nextInt(garbage.length)] = (byte) random.nextInt();
      }
      int body = garbage.length - Integer.BYTES;
      ByteBuffer.wrap(garbage).putInt(body, HistoryFile.checksum(garbage, body));
      KindHistory read = history(100);
      try {
        HistoryFile.decode(garbage, read);
        KindHistory.Kind kind = read.look(KIND);
        assertThat(kind == null || kind.mix.runs() >= 0).isTrue();
      } catch (IOException expected) {
        assertThat(expected).hasMessageNotContaining("null pointer");
      }
    }
  }
}
