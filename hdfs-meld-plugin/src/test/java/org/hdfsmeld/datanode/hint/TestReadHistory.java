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
import org.hdfsmeld.datanode.hint.ReadHistory.Key;
import org.hdfsmeld.datanode.hint.ReadHistory.Kind;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.junit.jupiter.api.Test;

/** What is remembered, for how long, and what is left of it in a file. */
class TestReadHistory {
  private static final long HALF_LIFE = 1000;
  private static final long MIB = 1 << 20;
  private static final BlockHint HINT = new BlockHint(ReadPattern.UNKNOWN, 0, 7, 70, -1);
  private static final Key FILE = new Key(Kind.FILE, "BP-1", 7);
  private static final Key DIRECTORY = new Key(Kind.DIRECTORY, "BP-1", 70);

  private final AtomicLong clock = new AtomicLong(1_000_000);
  private final ReadHistory history = history(100);

  private ReadHistory history(int maxEntries) {
    return new ReadHistory(maxEntries, HALF_LIFE, clock::get);
  }

  private void record(ReadHistory into, long block, BlockHint hint) {
    into.record(new BlockKey("BP-1", block), hint, 4 * MIB, 64, MIB);
  }

  @Test
  void countsRunsOfTheFileAndOfItsDirectory() {
    record(history, 1, HINT);
    record(history, 2, new BlockHint(ReadPattern.UNKNOWN, 0, 8, 70, -1));
    assertThat(history.look(FILE).runs()).isEqualTo(1);
    assertThat(history.look(DIRECTORY).runs()).isEqualTo(2);
    assertThat(history.look(DIRECTORY).runBytes()).isEqualTo(4 * MIB);
    assertThat(history.look(DIRECTORY).requestBytes()).isEqualTo(64 << 10);
    assertThat(history.look(DIRECTORY).outstandingBytes()).isEqualTo(MIB);
  }

  @Test
  void whatIsNotKnownIsNull() {
    assertThat(history.look(FILE)).isNull();
  }

  @Test
  void aHalfLifeHalves() {
    record(history, 1, HINT);
    record(history, 1, HINT);
    clock.addAndGet(HALF_LIFE);
    assertThat(history.look(FILE).runs()).isCloseTo(1, within(1e-6));
    record(history, 1, HINT);
    clock.addAndGet(2 * HALF_LIFE);
    assertThat(history.look(FILE).runs()).isCloseTo(0.5, within(1e-6));
    assertThat(history.look(FILE).runBytes()).isCloseTo(4 * MIB, within(1.0));
  }

  @Test
  void aClockThatJumpsIsSurvived() {
    record(history, 1, HINT);
    clock.addAndGet(-500_000);
    assertThat(history.look(FILE).runs()).isEqualTo(1);
    clock.addAndGet(Long.MAX_VALUE / 2);
    assertThat(history.look(FILE).runs()).isZero();
    record(history, 1, HINT);
    assertThat(history.look(FILE).runs()).isEqualTo(1);
  }

  @Test
  void theEntryUsedLongestAgoGoes() {
    ReadHistory small = history(4);
    record(small, 1, HINT);
    for (int block = 100; block < 102; block++) {
      record(small, block, BlockHint.NONE);
    }
    small.look(FILE).runs();
    record(small, 102, BlockHint.NONE);
    assertThat(small.size()).isEqualTo(4);
    assertThat(small.look(FILE).runs()).isEqualTo(1);
    assertThat(small.look(DIRECTORY)).isNull();
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    for (int i = 0; i < 60; i++) {
      record(history, i, i % 2 == 0 ? HINT : BlockHint.NONE);
    }
    byte[] bytes = HistoryFile.encode(history, new Lifetimes(9, 1));
    ReadHistory read = history(100);
    HistoryFile.decode(bytes, read, new Lifetimes(9, 1));
    assertThat(read.size()).isEqualTo(32);
    assertThat(read.look(FILE).runs()).isEqualTo(30);
    assertThat(HistoryFile.encode(read, new Lifetimes(9, 1))).hasSameSizeAs(bytes);
    // Less room: those used last stay.
    ReadHistory small = history(3);
    HistoryFile.decode(
        HistoryFile.encode(history, new Lifetimes(9, 1)), small, new Lifetimes(9, 1));
    assertThat(small.size()).isEqualTo(3);
    assertThat(small.look(new Key(Kind.BLOCK, "BP-1", 59)).runs()).isEqualTo(1);
  }

  @Test
  void whileItIsSavedRunsAreRecorded() throws Exception {
    record(history, 1, BlockHint.NONE);
    FutureTask<Void> recording = new FutureTask<>(() -> record(history, 2, BlockHint.NONE), null);
    OutputStream file =
        new ByteArrayOutputStream() {
          @Override
          public void write(int b) {
            new Thread(recording).start();
            try {
              recording.get(10, TimeUnit.SECONDS);
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            super.write(b);
          }
        };
    history.write(new DataOutputStream(file));
    assertThat(history.size()).isEqualTo(2);
  }

  @Test
  void everyTruncationAndEveryChangedBitIsNoticed() throws IOException {
    for (int i = 0; i < 5; i++) {
      record(history, i, BlockHint.NONE);
    }
    byte[] bytes = HistoryFile.encode(history, new Lifetimes(9, 1));
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> HistoryFile.decode(cut, history(100), new Lifetimes(9, 1)))
          .isInstanceOf(IOException.class);
    }
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] changed = bytes.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> HistoryFile.decode(changed, history(100), new Lifetimes(9, 1)))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void garbageUnderAValidChecksumIsNoticedToo() throws IOException {
    record(history, 1, HINT);
    byte[] bytes = HistoryFile.encode(history, new Lifetimes(9, 1));
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      byte[] garbage = random.nextBoolean() ? bytes.clone() : new byte[random.nextInt(200) + 16];
      int changes = 1 + random.nextInt(garbage.length);
      for (int change = 0; change < changes; change++) {
        garbage[random.nextInt(garbage.length)] = (byte) random.nextInt();
      }
      int body = garbage.length - Integer.BYTES;
      ByteBuffer.wrap(garbage).putInt(body, HistoryFile.checksum(garbage, body));
      ReadHistory read = history(100);
      try {
        HistoryFile.decode(garbage, read, new Lifetimes(9, 1));
        ReadMix mix = read.look(FILE);
        assertThat(mix == null || mix.runs() >= 0).isTrue();
      } catch (IOException expected) {
        assertThat(expected).hasMessageNotContaining("null pointer");
      }
    }
  }
}
