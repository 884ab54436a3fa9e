package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestWriteCoalescer {
  private static final int PAGE = 4 << 10;
  private static final int REQUEST = 12 * PAGE;
  private static final int PACKET = 64_512;

  private final FakeSink sink = new FakeSink();
  private final WriteCoalescer coalescer = new WriteCoalescer(sink, PAGE, REQUEST, 4 * REQUEST);

  @Test
  void packetsBecomeAlignedRequests() {
    long length = writePackets(100);
    coalescer.flush();
    assertThat(sink.writes)
        .allSatisfy(w -> assertThat(w.offset % PAGE).isZero())
        .allSatisfy(w -> assertThat(w.length % PAGE).isZero());
    assertThat(sink.writes.subList(0, sink.writes.size() - 1))
        .allSatisfy(w -> assertThat(w.length).isEqualTo(REQUEST));
    sink.assertContiguous(0, (length + PAGE - 1) / PAGE * PAGE);
  }

  @Test
  void aShortBlockWaitsUntilItIsFlushed() {
    sink.deferTo = 10 * REQUEST;
    coalescer.write(0, 5 * REQUEST);
    assertThat(sink.writes).isEmpty();
    coalescer.flush();
    sink.assertContiguous(0, 5 * REQUEST);
  }

  @Test
  void aBlockThatGrowsPastTheLimitIsWrittenWithItsLength() {
    sink.deferTo = 2 * REQUEST;
    coalescer.write(0, 2 * REQUEST);
    assertThat(sink.writes).isEmpty();
    coalescer.write(2 * REQUEST, PAGE);
    sink.assertContiguous(0, 2 * REQUEST);
    assertThat(sink.writes).allSatisfy(w -> assertThat(w.blockBytes).isEqualTo(2 * REQUEST + PAGE));
  }

  @Test
  void aWriteAfterAFlushWritesThePartialPageAgain() {
    coalescer.write(0, PAGE + 100);
    coalescer.flush();
    coalescer.write(PAGE + 100, 50);
    coalescer.flush();
    assertThat(sink.writes).hasSize(2);
    assertThat(sink.writes.get(1).offset).isEqualTo(PAGE);
    assertThat(sink.writes.get(1).length).isEqualTo(PAGE);
  }

  @Test
  void aGapSendsWhatCameBeforeIt() {
    coalescer.write(0, 10);
    coalescer.write(10 * PAGE + 5, 10);
    coalescer.flush();
    assertThat(sink.writes).extracting(w -> w.offset).containsExactly(0L, 10L * PAGE);
  }

  @Test
  void boundsTheWritesUnderWay() {
    writePackets(100);
    assertThat(sink.open).hasSizeLessThanOrEqualTo(4);
    coalescer.drain();
    assertThat(sink.open).isEmpty();
  }

  @Test
  void nothingPendingNothingFlushed() {
    coalescer.flush();
    coalescer.drain();
    assertThat(sink.writes).isEmpty();
  }

  private long writePackets(int count) {
    long at = 0;
    for (int i = 0; i < count; i++, at += PACKET) {
      coalescer.write(at, PACKET);
    }
    return at;
  }

  private static final class FakeSink implements WriteCoalescer.Sink {
    record Write(long offset, int length, long blockBytes) {}

    final List<Write> writes = new ArrayList<>();
    final List<Long> open = new ArrayList<>();
    long deferTo;

    @Override
    public boolean defers(long blockBytes) {
      return blockBytes <= deferTo;
    }

    @Override
    public long write(long offset, int length, long blockBytes) {
      writes.add(new Write(offset, length, blockBytes));
      open.add((long) writes.size());
      return writes.size();
    }

    @Override
    public void await(long ticket) {
      assertThat(open.remove(ticket)).isTrue();
    }

    void assertContiguous(long from, long to) {
      long at = from;
      for (Write write : writes) {
        assertThat(write.offset).isEqualTo(at);
        at += write.length;
      }
      assertThat(at).isEqualTo(to);
    }
  }
}
