package org.hdfsmeld.datanode;

/** One open write stream of a block, as the device sees it. */
final class BlockWriter implements WriteCoalescer.Sink {
  private static final long NOWHERE = -1;

  private final MeldVolume volume;
  private final BlockKey key;
  private final boolean paced;

  private VolumeBlocks blocks;
  private BlockExtent extent;
  private WriteCoalescer coalescer;
  private long next = NOWHERE;
  private boolean closed;

  /**
   * A writer that has written nothing.
   *
   * @param paced whether writes wait for the device; not where Hadoop holds locks
   */
  BlockWriter(MeldVolume volume, BlockKey key, boolean paced) {
    this.volume = volume;
    this.key = key;
    this.paced = paced;
  }

  /** Bytes were written to the block's file. Never throws. */
  synchronized void write(long offset, int length) {
    if (length <= 0 || closed || !volume.device().forwards()) {
      return;
    }
    if (coalescer == null && !open()) {
      return;
    }
    if (offset != next) {
      jump(offset);
    }
    next = offset + length;
    volume.counters().forwardedWrites.increment();
    volume.counters().forwardedWriteBytes.add(length);
    coalescer.write(offset, length);
  }

  /** The block's file was synced: everything pending goes to the device's flash. Never throws. */
  synchronized void sync() {
    if (coalescer == null || closed || !volume.device().forwards()) {
      return;
    }
    coalescer.flush();
    coalescer.drain();
    await(volume.device().flush());
  }

  /** Sends what is pending and waits for all of it. Never throws. */
  synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (coalescer == null) {
      return;
    }
    if (volume.device().forwards()) {
      coalescer.flush();
      coalescer.drain();
    }
    extent.writerClosed();
  }

  private boolean open() {
    blocks = volume.blocks();
    if (blocks == null) {
      return false;
    }
    extent = blocks.extent(key);
    extent.writerOpened();
    coalescer = volume.newCoalescer(this);
    return true;
  }

  /** Goes on at another offset: after an append's start, or writes that were not forwarded. */
  private void jump(long offset) {
    coalescer.flush();
    refresh();
    if (offset == 0) {
      extent.truncate(0);
    } else {
      blocks.preload(extent, offset);
    }
  }

  /** A block can be deleted and come back under its writer. */
  private void refresh() {
    BlockExtent present = blocks.current(extent);
    if (present != extent) {
      extent.writerClosed();
      present.writerOpened();
      extent = present;
    }
  }

  @Override
  public boolean defers(long blockBytes) {
    return volume.hints().defers(blockBytes);
  }

  @Override
  public long write(long offset, int length, long blockBytes) {
    refresh();
    return blocks.write(extent, offset, length, blockBytes, !paced);
  }

  @Override
  public void await(long ticket) {
    volume.device().await(ticket, volume.counters().writerWaitNs);
  }

  @Override
  public void forget(long ticket) {
    volume.device().forget(ticket);
  }
}
