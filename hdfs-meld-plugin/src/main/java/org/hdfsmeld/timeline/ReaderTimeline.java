package org.hdfsmeld.timeline;

import org.hdfsmeld.model.BlockKey;

/** What a reader of a block says to the DataNode's timeline, while one is recorded. */
public final class ReaderTimeline {
  private final DatanodeTimeline timeline;
  private final int volume;

  /** 0 before the reader has read while a timeline was recorded. */
  private long reader;

  private long beginNs;
  private long offset;
  private long bytes;

  ReaderTimeline(DatanodeTimeline timeline, int volume) {
    this.timeline = timeline;
    this.volume = volume;
  }

  public void reading(long from, int length) {
    if (!timeline.isRecording()) {
      return;
    }
    if (reader == 0) {
      reader = timeline.newReader();
      beginNs = System.nanoTime();
      offset = from;
    }
    bytes += length;
  }

  /** A time for {@link #waited}; 0 when no timeline is recorded. */
  public long now() {
    return timeline.isRecording() ? System.nanoTime() : 0;
  }

  /** Whether {@link #requested} of this ticket goes anywhere; before work for it alone. */
  public boolean records(long ticket) {
    return reader != 0 && ticket > 0 && timeline.isRecording();
  }

  /** The reader asked its device for a range of the volume's namespace. */
  public void requested(long ticket, long startByte, long length) {
    long ns = System.nanoTime();
    add(TimelineFile.kind(TimelineFile.REQUEST, volume), ticket, ns, ns, startByte, length);
  }

  /** The reader waited for a ticket, from a time of {@link #now}. */
  public void waited(long ticket, long sinceNs) {
    if (sinceNs != 0 && reader != 0 && ticket != 0) {
      long kind = TimelineFile.kind(TimelineFile.WAIT, volume);
      add(kind, ticket, sinceNs, System.nanoTime(), 0, 0);
    }
  }

  /** The reader has ended; its client's name, empty for none, and the kind, as in traces. */
  public void ended(BlockKey block, String client, String kind) {
    DatanodeTimeline.Session session = timeline.session();
    if (reader != 0 && session != null) {
      Strings strings = session.strings();
      int pool = strings.number(block.pool());
      int user = strings.number(client);
      long read = TimelineFile.kindOfRead(volume, pool, user, strings.number(kind));
      long now = System.nanoTime();
      session.records().add(read, reader, block.id(), beginNs, now, offset, bytes);
    }
  }

  /** Never blocks, never throws. */
  private void add(long kind, long ticket, long begin, long end, long first, long last) {
    DatanodeTimeline.Session session = timeline.session();
    if (session != null) {
      session.records().add(kind, reader, ticket, begin, end, first, last);
    }
  }
}
