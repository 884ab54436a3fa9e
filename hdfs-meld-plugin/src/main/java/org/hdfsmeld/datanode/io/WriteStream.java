package org.hdfsmeld.datanode.io;

import java.io.File;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.device.TicketedIo;
import org.hdfsmeld.datanode.device.WaitBudget;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.layout.ExtentIo;
import org.hdfsmeld.datanode.layout.VolumeBlocks;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.trace.TraceOp;

/** One open write stream of a block, as the device sees it. */
public final class WriteStream implements WriteCoalescer.Sink {
  private static final long NOWHERE = -1;

  private final MeldVolume volume;
  private final BlockKey key;
  private final File file;
  private final boolean paced;
  private final WaitBudget budget;
  private final StreamUser user;

  private VolumeBlocks blocks;
  private BlockExtent extent;
  private WriteCoalescer coalescer;
  private long next = NOWHERE;
  private boolean closed;

  /** A writer that has written nothing. It is paced but where Hadoop holds locks. */
  public WriteStream(MeldVolume volume, BlockKey key, File file, boolean paced, StreamUser user) {
    this.user = user;
    this.volume = volume;
    this.key = key;
    this.file = file;
    this.paced = paced;
    this.budget = volume.newBudget(paced);
  }

  /** Bytes were written to the block's file. Never throws. */
  public synchronized void write(long offset, int length) {
    if (length <= 0 || closed) {
      return;
    }
    if (!volume.device().forwards()) {
      volume.counters().add(VolumeCounter.STOCK_WRITE_BYTES, length);
      if (extent != null) {
        extent.lacks(VolumeCounter.SWITCHED_WRITES);
      }
      return;
    }
    if (coalescer == null && !open()) {
      return;
    }
    budget.renew();
    if (offset != next) {
      jump(offset);
    }
    next = offset + length;
    volume.counters().increment(VolumeCounter.FORWARDED_WRITES);
    volume.counters().add(VolumeCounter.FORWARDED_WRITE_BYTES, length);
    coalescer.write(offset, length);
  }

  /** The block's file was synced: everything pending goes to the device's flash. Never throws. */
  public synchronized void sync() {
    if (coalescer == null || closed || !volume.device().forwards()) {
      return;
    }
    budget.renew();
    coalescer.flush();
    coalescer.drain();
    long ticket = volume.device().flush();
    if (ticket != TicketedIo.NOTHING) {
      blocks.io().record(TraceOp.FLUSH, extent, 0, user.kind());
    }
    await(ticket);
  }

  /** Sends what is pending and waits for all of it. Never throws. */
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    budget.renew();
    if (coalescer == null) {
      return;
    }
    if (volume.device().forwards()) {
      coalescer.flush();
      coalescer.drain();
    } else {
      extent.lacks(VolumeCounter.SWITCHED_WRITES);
    }
    extent.writerClosed();
  }

  private boolean open() {
    blocks = volume.blocks();
    if (blocks == null) {
      return false;
    }
    extent = blocks.extent(key, BlockFile.of(file));
    extent.writerOpened();
    NamespaceInfo namespace = volume.device().namespace();
    MeldConfiguration config = volume.config();
    long wordline = namespace.wordlineBytes();
    long request = (config.requestBytes() + wordline - 1) / wordline * wordline;
    coalescer = new WriteCoalescer(this, namespace.pageBytes(), request, config.windowBytes());
    return true;
  }

  /** Goes on at another offset: after an append's start, or writes that were not forwarded. */
  private void jump(long offset) {
    coalescer.flush();
    if (!present()) {
      return;
    }
    if (offset == 0) {
      extent.truncate(0);
    } else {
      blocks.io().preload(extent, offset);
    }
  }

  /**
   * Whether the block still exists. A late delete of an older replica may have taken the extent
   * with it, and then the block gets another.
   */
  private boolean present() {
    if (extent.isDropped() && file.exists()) {
      extent.writerClosed();
      extent = blocks.extent(key, BlockFile.of(file));
      extent.writerOpened();
    }
    return !extent.isDropped();
  }

  @Override
  public boolean defers(long blockBytes) {
    return extent.defers(blockBytes);
  }

  @Override
  public long write(long offset, int length, long blockBytes) {
    ExtentIo io = blocks.io();
    long ticket;
    do {
      ticket =
          present()
              ? io.write(extent, offset, length, blockBytes, !paced, user.kind())
              : TicketedIo.NOTHING;
    } while (ticket == SimStatus.TIMEOUT
        && volume.device().awaitRoom(budget, VolumeCounter.WRITER_WAIT_NS));
    return Math.max(ticket, TicketedIo.NOTHING);
  }

  @Override
  public void await(long ticket) {
    long begin = user.now();
    volume.device().await(ticket, budget, VolumeCounter.WRITER_WAIT_NS);
    user.waited(begin);
  }
}
