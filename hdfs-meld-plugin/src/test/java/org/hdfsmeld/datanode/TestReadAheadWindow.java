package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TestReadAheadWindow {
  private static final long PAGE = 4 << 10;
  private static final long WORDLINE = 3 * PAGE;
  private static final long MIB = 1 << 20;
  private static final int PACKET = 64 << 10;
  private static final long REQUEST = 86 * WORDLINE;
  private static final long WINDOW = 16 * REQUEST;

  private final FakeSource source = new FakeSource(128 * MIB);
  private final ReadAheadWindow window = new ReadAheadWindow(source, PAGE, WORDLINE, MIB, 16 * MIB);

  @Test
  void opensFullAtTheStartOfTheBlock() {
    window.read(0, PACKET);
    assertThat(source.requestedTo()).isEqualTo(WINDOW);
    assertThat(source.requests).hasSize(16);
  }

  @Test
  void requestsAreWholeWordlines() {
    window.read(0, PACKET);
    assertThat(source.requests)
        .allSatisfy(r -> assertThat(r.length).isEqualTo(REQUEST))
        .allSatisfy(r -> assertThat(r.offset % WORDLINE).isZero());
  }

  @Test
  void waitsOnlyForTheRequestsThatCoverTheRead() {
    window.read(0, PACKET);
    assertThat(source.awaited).isEqualTo(1);
    window.read(PACKET, PACKET);
    assertThat(source.awaited).isEqualTo(1);
    for (long at = 2 * PACKET; at <= REQUEST; at += PACKET) {
      window.read(at, PACKET);
    }
    assertThat(source.awaited).isEqualTo(2);
  }

  @Test
  void keepsAWindowAheadOfASequentialReader() {
    for (long at = 0; at < 64 * MIB; at += PACKET) {
      window.read(at, PACKET);
      assertThat(source.requestedTo() - at)
          .isBetween(WINDOW - REQUEST - PACKET, WINDOW + REQUEST + PACKET);
    }
  }

  @Test
  void readsAWholeBlockOnceAndNoMore() {
    for (long at = 0; at < 128 * MIB; at += PACKET) {
      window.read(at, PACKET);
    }
    window.release();
    source.assertContiguous(0, 128 * MIB);
    assertThat(source.awaited).isEqualTo(source.requests.size());
    assertThat(source.forgotten).isZero();
    assertThat(source.requests.size()).isLessThanOrEqualTo(131);
  }

  @Test
  void smallReadsTouchTheDeviceAtRequestBoundariesOnly() {
    for (long at = 0; at < 128 * MIB; at += PAGE) {
      window.read(at, (int) PAGE);
    }
    assertThat(source.calls()).isLessThan(3 * 132);
  }

  @Test
  void aReadElsewhereRequestsItsPagesOnly() {
    window.read(10 * MIB + 1000, 5000);
    assertThat(source.requests).hasSize(1);
    assertThat(source.requests.get(0).offset).isEqualTo(10 * MIB);
    assertThat(source.requests.get(0).length).isEqualTo(2 * PAGE);
  }

  @Test
  void theWindowGrowsByFourOnSequentialContinuation() {
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
    window.read(0, PACKET);
    window.read(100 * MIB, PACKET);
    assertThat(source.forgotten).isEqualTo(15);
    assertThat(source.open).isEmpty();
  }

  @Test
  void aSkipWithinTheWindowIsNoJump() {
    window.read(0, PACKET);
    window.read(2 * MIB, PACKET);
    assertThat(source.forgotten).isZero();
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
  void releaseGivesUpEveryTicketAndStartsAfresh() {
    window.read(0, PACKET);
    window.release();
    assertThat(source.open).isEmpty();
    window.read(PACKET, PACKET);
    assertThat(source.requestedTo()).isEqualTo(2 * PACKET);
  }

  @Test
  void aRequestAsLargeAsTheWindowStillAdvances() {
    ReadAheadWindow single = new ReadAheadWindow(source, PAGE, WORDLINE, MIB, MIB);
    for (long at = 0; at < 8 * MIB; at += PACKET) {
      single.read(at, PACKET);
    }
    source.assertContiguous(0, source.requestedTo());
  }

  private static final class FakeSource implements ReadAheadWindow.Source {
    record Request(long offset, int length) {}

    final List<Request> requests = new ArrayList<>();
    final Map<Long, Request> open = new HashMap<>();
    long readable;
    int awaited;
    int forgotten;
    int asked;
    private long tickets;

    FakeSource(long readable) {
      this.readable = readable;
    }

    @Override
    public long readableBytes() {
      asked++;
      return readable;
    }

    @Override
    public long request(long offset, int length) {
      assertThat(length).isPositive();
      Request request = new Request(offset, length);
      requests.add(request);
      open.put(++tickets, request);
      return tickets;
    }

    @Override
    public void await(long ticket) {
      assertThat(open.remove(ticket)).isNotNull();
      awaited++;
    }

    @Override
    public void forget(long ticket) {
      assertThat(open.remove(ticket)).isNotNull();
      forgotten++;
    }

    long requestedTo() {
      Request last = requests.get(requests.size() - 1);
      return last.offset + last.length;
    }

    int calls() {
      return requests.size() + awaited + asked;
    }

    void assertContiguous(long from, long to) {
      long at = from;
      for (Request request : requests) {
        assertThat(request.offset).isEqualTo(at);
        at += request.length;
      }
      assertThat(at).isEqualTo(to);
    }
  }
}
