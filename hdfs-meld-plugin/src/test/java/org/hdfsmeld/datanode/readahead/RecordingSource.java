package org.hdfsmeld.datanode.readahead;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The device's side of a window: writes down what is requested, awaited and given up. */
final class RecordingSource implements RequestedRange.Source {
  record Request(long offset, int length) {}

  final List<Request> requests = new ArrayList<>();
  final Map<Long, Request> open = new HashMap<>();
  long readable;
  int awaited;
  int asked;
  private long tickets;
  private int traced;

  RecordingSource(long readable) {
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

  /** Bytes requested and neither awaited nor given up. */
  long outstandingBytes() {
    return open.values().stream().mapToLong(Request::length).sum();
  }

  /** What was requested since the last call, as {@code first+count} in units, and what is open. */
  String trace(long unit) {
    StringBuilder text = new StringBuilder();
    for (; traced < requests.size(); traced++) {
      Request request = requests.get(traced);
      text.append(request.offset / unit).append('+').append(request.length / unit).append(' ');
    }
    return text.append('|').append(outstandingBytes() / unit).toString();
  }
}
