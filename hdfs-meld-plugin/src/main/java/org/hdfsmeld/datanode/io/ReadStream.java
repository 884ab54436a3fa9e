package org.hdfsmeld.datanode.io;

import org.hdfsmeld.datanode.device.TicketedIo;
import org.hdfsmeld.datanode.device.WaitBudget;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.layout.ExtentIo;
import org.hdfsmeld.datanode.layout.VolumeBlocks;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.readahead.ReadAhead;
import org.hdfsmeld.datanode.readahead.RequestedRange;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.timeline.ReaderTimeline;
import org.hdfsmeld.trace.ClientKind;
import org.hdfsmeld.trace.TraceOp;

/** One open read stream of a block, as the device sees it. */
public final class ReadStream implements RequestedRange.Source {
  private final MeldVolume volume;
  private final BlockKey key;
  private final BlockFile file;
  private final boolean paced;
  private final WaitBudget budget;
  private final StreamUser user;
  private final ReaderTimeline timeline;

  private VolumeBlocks blocks;
  private BlockExtent extent;
  private ReadAhead window;
  private long reads;
  private long readBytes;
  private long runReads;
  private long runBytes;
  private long wanted;
  private boolean longRead;
  private boolean used;
  private boolean closed;

  /** A reader of an open file that has read nothing. It is paced but where Hadoop holds locks. */
  public ReadStream(
      MeldVolume volume, BlockKey key, BlockFile file, boolean paced, StreamUser user) {
    this.user = user;
    this.volume = volume;
    this.key = key;
    this.file = file;
    this.paced = paced;
    this.budget = volume.newBudget(paced);
    this.timeline = volume.timeline().reader(volume.device().number());
  }

  /** The stream was opened for more than a few packets. Comes before it is read. */
  public synchronized void longRead() {
    longRead = true;
  }

  /** Bytes are read from the block's file: returns when the device has them too. Never throws. */
  public synchronized void consume(long offset, int length) {
    used = true;
    if (length <= 0 || closed) {
      return;
    }
    if (!volume.device().forwards()) {
      volume.counters().add(VolumeCounter.STOCK_READ_BYTES, length);
      return;
    }
    if (blocks == null && !open()) {
      return;
    }
    budget.renew();
    timeline.reading(offset, length);
    wanted = offset + length;
    if (window == null || !window.continues(offset)) {
      turnTo(offset, length);
    }
    reads++;
    readBytes += length;
    runReads++;
    runBytes += length;
    window.read(offset, length);
  }

  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (window != null) {
      endRun();
      parkWindow();
    }
    publishCounts();
    timeline.ended(key, user.client(), user.kind().text());
    if (!used) {
      volume.counters().increment(VolumeCounter.OPENED_UNREAD);
      if (user.kind() == ClientKind.SHORT_CIRCUIT) {
        volume.trace().record(TraceOp.OPEN, key, 0, 0, 0, ReadPattern.UNKNOWN, user.kind());
      }
    }
  }

  private boolean open() {
    blocks = volume.blocks();
    if (blocks == null) {
      return false;
    }
    extent = isUse() ? blocks.read(key, file) : blocks.extent(key, file);
    return true;
  }

  /** Begins to read elsewhere: goes on with the window of an earlier reader, or with a new one. */
  private void turnTo(long offset, int length) {
    if (window == null) {
      window = take(offset, length);
      return;
    }
    endRun();
    if (mayPark()) {
      parkWindow();
      window = take(offset, length);
    }
  }

  private ReadAhead take(long offset, int length) {
    ReadAhead parked = paced ? volume.parkedWindows().take(key, offset, length) : null;
    if (parked == null) {
      return volume.newWindow(this, longRead);
    }
    parked.range().attach(this);
    return parked;
  }

  /** Whether it says how the block is used. What no client asks for is upkeep, such as caching. */
  private boolean isUse() {
    return paced && user.kind() == ClientKind.CLIENT;
  }

  /** The reads so far were sequential; what follows is not their continuation. */
  private void endRun() {
    if (runBytes > 0 && isUse()) {
      long outstanding = window.range().meanOutstandingBytes();
      volume.readRun(extent, runBytes, runReads, outstanding == 0 ? runBytes : outstanding);
    }
    runReads = 0;
    runBytes = 0;
  }

  /** Leaves the window to the next reader that goes on here. */
  private void parkWindow() {
    if (mayPark() && window.next() < file.length()) {
      volume.parkedWindows().park(key, window);
    }
  }

  private boolean mayPark() {
    return paced && volume.parksWindows();
  }

  private void publishCounts() {
    Counters<VolumeCounter> counters = volume.counters();
    counters.add(VolumeCounter.FORWARDED_READS, reads);
    counters.add(VolumeCounter.FORWARDED_READ_BYTES, readBytes);
    reads = 0;
    readBytes = 0;
  }

  @Override
  public long readableBytes() {
    if (extent.isDropped()) {
      // The block was deleted; its file is readable as long as it is open, the device has it no
      // more.
      return 0;
    }
    long fileBytes = file.length();
    long readable;
    do {
      readable = blocks.io().readableBytes(extent, fileBytes, wanted);
    } while (readable < fileBytes
        && !volume.device().hasRoom()
        && volume.device().awaitRoom(budget, VolumeCounter.READER_WAIT_NS));
    return readable;
  }

  @Override
  public long request(long offset, int length) {
    publishCounts();
    long ticket;
    do {
      ticket = blocks.io().read(extent, offset, length, !paced, user.kind());
    } while (ticket == SimStatus.TIMEOUT
        && volume.device().awaitRoom(budget, VolumeCounter.READER_WAIT_NS));
    if (timeline.records(ticket)) {
      ExtentIo.Command command = blocks.io().lastCommand(extent, offset, length);
      timeline.requested(ticket, command.startByte(), command.bytes());
    }
    return Math.max(ticket, TicketedIo.NOTHING);
  }

  @Override
  public void await(long ticket) {
    long since = timeline.now();
    long begin = user.now();
    volume.device().await(ticket, budget, VolumeCounter.READER_WAIT_NS);
    user.waited(begin);
    timeline.waited(ticket, since);
  }
}
