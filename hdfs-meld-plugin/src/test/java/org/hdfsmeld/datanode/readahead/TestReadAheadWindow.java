package org.hdfsmeld.datanode.readahead;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestReadAheadWindow {
  private static final long PAGE = 4 << 10;
  private static final long WORDLINE = 3 * PAGE;
  private static final long MIB = 1 << 20;
  private static final int PACKET = 64 << 10;
  private static final long REQUEST = 86 * WORDLINE;
  private static final long WINDOW = 16 * REQUEST;

  private final RecordingSource source = new RecordingSource(128 * MIB);
  private final ReadAheadWindow window =
      new ReadAheadWindow(source, true, PAGE, WORDLINE, MIB, 16 * MIB);

  @Test
  void opensASmallWindowAtTheStartOfTheBlock() {
    window.read(0, PACKET);
    assertThat(source.requestedTo()).isEqualTo(22 * WORDLINE);
  }

  @Test
  void growsLikeAKernelsUpToTheFullWindow() {
    List<Long> spans = new ArrayList<>();
    long before = 0;
    for (long at = 0; at < 32 * MIB; at += PACKET) {
      window.read(at, PACKET);
      if (source.requestedTo() != before) {
        before = source.requestedTo();
        spans.add(before - (at + PACKET));
      }
    }
    // Four times as much while below a sixteenth, then twice as much.
    assertThat(spans.get(0)).isEqualTo(22 * WORDLINE - PACKET);
    assertThat(spans.get(1)).isBetween(88 * WORDLINE, 88 * WORDLINE + REQUEST);
    assertThat(spans.get(2)).isBetween(176 * WORDLINE - REQUEST, 176 * WORDLINE + REQUEST);
    assertThat(spans.get(3)).isBetween(352 * WORDLINE - REQUEST, 352 * WORDLINE + REQUEST);
    assertThat(spans.get(4)).isBetween(704 * WORDLINE - REQUEST, 704 * WORDLINE + REQUEST);
    assertThat(spans.get(5)).isBetween(WINDOW - REQUEST, WINDOW + REQUEST);
  }

  @Test
  void aSmallReadAtTheStartRequestsLittle() {
    window.read(0, 4);
    assertThat(source.requestedTo()).isLessThanOrEqualTo(2 * WORDLINE);
  }

  @Test
  void requestsAreWholeWordlines() {
    for (long at = 0; at < 64 * MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    assertThat(source.requests)
        .allSatisfy(r -> assertThat(r.length() % WORDLINE).isZero())
        .allSatisfy(r -> assertThat(r.offset() % WORDLINE).isZero());
  }

  @Test
  void fixedIsAlwaysWhole() {
    ReadAheadWindow fixed = new ReadAheadWindow(source, false, PAGE, WORDLINE, MIB, 16 * MIB);
    fixed.read(0, PACKET);
    assertThat(source.requestedTo()).isEqualTo(WINDOW);
    assertThat(source.requests).hasSize(16);
    fixed.read(64 * MIB, PACKET);
    assertThat(source.requestedTo() - 64 * MIB).isBetween(WINDOW - REQUEST, WINDOW);
  }

  @Test
  void waitsOnlyForTheRequestsThatCoverTheRead() {
    window.read(0, PACKET);
    assertThat(source.awaited).isEqualTo(1);
    window.read(PACKET, PACKET);
    assertThat(source.awaited).isEqualTo(1);
    for (long at = 2 * PACKET; at <= 22 * WORDLINE; at += PACKET) {
      window.read(at, PACKET);
    }
    assertThat(source.awaited).isEqualTo(2);
  }

  @Test
  void keepsAWindowAheadOfASequentialReader() {
    for (long at = 0; at < 64 * MIB; at += PACKET) {
      window.read(at, PACKET);
      if (at > 8 * MIB) {
        assertThat(source.requestedTo() - at)
            .isBetween(WINDOW - REQUEST - PACKET, WINDOW + REQUEST + PACKET);
      }
    }
  }

  @Test
  void readsAWholeBlockOnceAndNoMore() {
    for (long at = 0; at < 128 * MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    source.assertContiguous(0, 128 * MIB);
    assertThat(source.awaited).isEqualTo(source.requests.size());
    assertThat(source.requests.size()).isLessThanOrEqualTo(135);
  }

  @Test
  void smallReadsTouchTheDeviceAtRequestBoundariesOnly() {
    for (long at = 0; at < 128 * MIB; at += PAGE) {
      window.read(at, (int) PAGE);
    }
    assertThat(source.calls()).isLessThan(3 * 140);
  }

  @Test
  void aReadElsewhereRequestsItsPagesOnly() {
    window.read(10 * MIB + 1000, 5000);
    assertThat(source.requests).hasSize(1);
    assertThat(source.requests.get(0).offset()).isEqualTo(10 * MIB);
    assertThat(source.requests.get(0).length()).isEqualTo(2 * PAGE);
  }

  @Test
  void theWindowGrowsFromThereOnSequentialContinuation() {
    long at = 10 * MIB;
    List<Long> ahead = new ArrayList<>();
    for (int i = 0; i < 1000; i++, at += PACKET) {
      window.read(at, PACKET);
      ahead.add(source.requestedTo() - at);
    }
    assertThat(ahead.get(0)).isEqualTo(PACKET);
    assertThat(ahead.get(1)).isBetween(4L * PACKET, 6L * PACKET);
    assertThat(ahead.get(20)).isLessThanOrEqualTo(WINDOW + REQUEST);
    assertThat(ahead.get(999)).isGreaterThan(WINDOW - 2 * REQUEST);
    source.assertContiguous(10 * MIB, source.requestedTo());
  }

  @Test
  void aJumpGivesUpWhatWasRequested() {
    for (long at = 0; at < 16 * MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    int open = source.open.size();
    window.read(100 * MIB, PACKET);
    assertThat(open).isBetween(15, 18);
    assertThat(source.open).as("nobody waits for them").hasSizeGreaterThanOrEqualTo(open);
  }

  @Test
  void aSkipWithinTheWindowIsNoJump() {
    window.read(0, PACKET);
    window.read(3 * PACKET, PACKET);
    source.assertContiguous(0, source.requestedTo());
  }

  @Test
  void neverPassesTheEndOfTheBlock() {
    source.readable = 3 * MIB + 10;
    for (long at = 0; at < source.readable; at += PACKET) {
      window.read(at, (int) Math.min(PACKET, source.readable - at));
    }
    source.assertContiguous(0, 3 * MIB + PAGE);
  }

  @Test
  void neverPassesTheEndOfTheBlockAfterAJump() {
    source.readable = 3 * MIB + 10;
    window.read(3 * MIB, PACKET);
    source.assertContiguous(3 * MIB, 3 * MIB + PAGE);
  }

  @Test
  void followsABlockThatGrows() {
    source.readable = MIB;
    long at = 0;
    for (; at < MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    source.readable = 2 * MIB;
    for (; at < 2 * MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    source.assertContiguous(0, 2 * MIB);
  }

  @Test
  void aBlockTheDeviceDoesNotHaveIsNotWaitedFor() {
    source.readable = 0;
    window.read(0, PACKET);
    window.read(PACKET, PACKET);
    assertThat(source.requests).isEmpty();
    assertThat(source.awaited).isZero();
  }

  @Test
  void aReadLongerThanTheWindowIsServedWhole() {
    window.read(0, (int) (100 * MIB));
    source.assertContiguous(0, source.requestedTo());
    assertThat(source.requestedTo()).isGreaterThanOrEqualTo(100 * MIB);
  }

  @Test
  void aRequestAsLargeAsTheWindowStillAdvances() {
    ReadAheadWindow single = new ReadAheadWindow(source, true, PAGE, WORDLINE, MIB, MIB);
    for (long at = 0; at < 8 * MIB; at += PACKET) {
      single.read(at, PACKET);
    }
    source.assertContiguous(0, source.requestedTo());
  }

  @Test
  void aReadThatBeginsWithTheLastChunkAgainIsSequential() {
    window.read(10 * MIB, 5000);
    window.read(10 * MIB + 4608, 5000);
    source.assertContiguous(10 * MIB, source.requestedTo());
  }

  @Test
  void countsWhatIsOutstandingWhenTheReaderWaits() {
    window.read(10 * MIB, PACKET);
    assertThat(window.range().meanOutstandingBytes()).isEqualTo(PACKET);
    for (long at = 10 * MIB + PACKET; at < 100 * MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    assertThat(window.range().meanOutstandingBytes()).isBetween(10 * MIB, WINDOW);
  }
}
