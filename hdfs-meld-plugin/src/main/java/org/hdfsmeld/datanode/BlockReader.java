package org.hdfsmeld.datanode;

import java.util.function.LongSupplier;
import org.hdfsmeld.sim.SimStatus;

/** One open read stream of a block, as the device sees it. */
final class BlockReader implements ReadAheadWindow.Source {
  private final MeldVolume volume;
  private final BlockKey key;
  private final LongSupplier fileBytes;
  private final boolean paced;
  private final WaitBudget budget;

  private VolumeBlocks blocks;
  private BlockExtent extent;
  private ReadAheadWindow window;
  private long reads;
  private long readBytes;
  private boolean used;
  private boolean closed;

  /**
   * A reader that has read nothing.
   *
   * @param fileBytes the present length of the block's file
   * @param paced whether reads wait for the device; not where Hadoop holds locks
   */
  BlockReader(MeldVolume volume, BlockKey key, LongSupplier fileBytes, boolean paced) {
    this.volume = volume;
    this.key = key;
    this.fileBytes = fileBytes;
    this.paced = paced;
    this.budget = volume.newBudget(paced);
  }

  /** Bytes are read from the block's file: returns when the device has them too. Never throws. */
  synchronized void consume(long offset, int length) {
    used = true;
    if (length <= 0 || closed || !volume.device().forwards()) {
      return;
    }
    if (window == null && !open()) {
      return;
    }
    budget.renew();
    reads++;
    readBytes += length;
    window.read(offset, length);
  }

  /** Gives up what was requested ahead. Never throws. */
  synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (window != null) {
      window.release();
    }
    publishCounts();
    if (!used) {
      volume.counters().openedUnread.increment();
    }
  }

  private boolean open() {
    blocks = volume.blocks();
    if (blocks == null) {
      return false;
    }
    extent = blocks.extent(key);
    window = volume.newWindow(this);
    return true;
  }

  private void publishCounts() {
    VolumeCounters counters = volume.counters();
    counters.forwardedReads.add(reads);
    counters.forwardedReadBytes.add(readBytes);
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
    return blocks.readableBytes(extent, fileBytes.getAsLong());
  }

  @Override
  public long request(long offset, int length) {
    publishCounts();
    long ticket;
    do {
      ticket = blocks.read(extent, offset, length, !paced);
    } while (ticket == SimStatus.TIMEOUT
        && volume.device().awaitRoom(budget, volume.counters().readerWaitNs));
    return Math.max(ticket, TicketedIo.NOTHING);
  }

  @Override
  public void await(long ticket) {
    volume.device().await(ticket, budget, volume.counters().readerWaitNs);
  }

  @Override
  public void forget(long ticket) {
    volume.device().forget(ticket);
  }
}
