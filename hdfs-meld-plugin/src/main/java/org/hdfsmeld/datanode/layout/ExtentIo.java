package org.hdfsmeld.datanode.layout;

import java.util.Arrays;
import org.hdfsmeld.datanode.device.TicketedIo;
import org.hdfsmeld.datanode.device.VolumePort;
import org.hdfsmeld.datanode.device.WaitBudget;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.trace.BlockTrace.VolumeTrace;
import org.hdfsmeld.trace.ClientKind;
import org.hdfsmeld.trace.TraceOp;

/**
 * The device commands of the blocks of a volume, and their trace.
 *
 * <p>What a block's file holds and the device does not know (written before a restart, or while
 * forwarding was off) is preloaded: placed as if it had been written long ago.
 */
public final class ExtentIo {
  private static final long PRELOAD_BYTES_MAX = 1L << 30;

  private final VolumePort device;
  private final BlockExtent.Space space;
  private final Counters<VolumeCounter> counters;
  private final VolumeTrace trace;
  private final SlotReclaimer reclaimer;
  private final long lbaBytes;
  private final long pageBytes;

  ExtentIo(
      VolumePort device,
      BlockExtent.Space space,
      Counters<VolumeCounter> counters,
      VolumeTrace trace) {
    this.device = device;
    this.space = space;
    this.counters = counters;
    this.trace = trace;
    this.reclaimer = new SlotReclaimer(this::deallocate, space.allocator(), space.slotBytes());
    this.lbaBytes = space.namespace().lbaBytes();
    this.pageBytes = space.namespace().pageBytes();
  }

  SlotReclaimer reclaimer() {
    return reclaimer;
  }

  /**
   * Bytes of the block that the device can read. Has it written what its writer holds back of what
   * is wanted.
   *
   * @param fileBytes present length of the block's file
   * @param wanted where the present read ends
   */
  public long readableBytes(BlockExtent extent, long fileBytes, long wanted) {
    long mapped = extent.mappedBytes();
    if (mapped < fileBytes && !extent.isWritten()) {
      preload(extent, fileBytes);
    } else if (mapped < Math.min(wanted, fileBytes)) {
      long from = mapped - mapped % pageBytes;
      int length = (int) Math.min(space.lbas(fileBytes - from) * lbaBytes, PRELOAD_BYTES_MAX);
      write(extent, from, length, fileBytes, true, ClientKind.DATANODE);
    }
    return Math.min(extent.mappedBytes(), fileBytes);
  }

  /**
   * Makes the device hold the block up to {@code bytes}, as if long since written, and no more
   * after a truncation. Waits for nothing.
   */
  public void preload(BlockExtent extent, long bytes) {
    // One lock for all that is asked of an extent, which hears afterwards of what is refused.
    synchronized (extent) {
      if (extent.isDropped()) {
        return;
      }
      trim(extent);
      long offset = extent.mappedBytes();
      if (offset < bytes) {
        HintDecision decision = extent.decision(bytes);
        place(extent, decision);
        preload(extent, offset - offset % pageBytes, bytes, extent.directive(decision));
      }
    }
  }

  /**
   * The block's hint has come. What is preloaded already is laid out anew: it shall lie as if the
   * hint had been known when it was written.
   */
  void decide(BlockExtent extent, BlockHint hint) {
    synchronized (extent) {
      long bytes = extent.preloadedBytes();
      int before = extent.directive(extent.decision(bytes));
      extent.decide(hint);
      HintDecision decision = extent.decision(bytes);
      int directive = extent.directive(decision);
      if (bytes > 0 && directive != before && !extent.isDropped()) {
        countPlacement(extent, decision);
        preload(extent, 0, bytes, directive);
      }
    }
  }

  private void preload(BlockExtent extent, long from, long to, int directive) {
    forEachPart(
        extent,
        from,
        to,
        (offset, address, length) -> {
          if (address == SlotAllocator.NONE) {
            full(extent);
            return false;
          }
          int lbas = (int) space.lbas(length);
          boolean taken = device.preload(extent, address / lbaBytes, lbas, directive);
          if (taken) {
            extent.preloaded(offset, offset + length);
          } else {
            extent.lacks(VolumeCounter.OVERLOADED_WRITES);
          }
          return taken;
        });
  }

  /** What is done with a part of a block that lies in one piece; false ends it. */
  private interface Part {
    boolean at(long offset, long address, long length);
  }

  /** Goes through a range of a block in pieces; where it ended. */
  private static long forEachPart(BlockExtent extent, long from, long to, Part part) {
    long offset = from;
    while (offset < to) {
      long length = Math.min(extent.contiguousBytes(offset), PRELOAD_BYTES_MAX);
      length = Math.min(to - offset, length);
      if (!part.at(offset, extent.address(offset), length)) {
        break;
      }
      offset += length;
    }
    return offset;
  }

  /** Flash pages that hold the block; of those the buffered ones; of those the melded ones. */
  public long[] layout(BlockExtent extent) {
    long[] pages = new long[3];
    long[] part = new long[3];
    forEachPart(
        extent,
        0,
        extent.reach(),
        (offset, address, length) -> {
          boolean known =
              address != SlotAllocator.NONE
                  && device.layout(address / lbaBytes, space.lbas(length), part);
          if (known) {
            Arrays.setAll(pages, i -> pages[i] + part[i]);
          }
          return known;
        });
    return pages;
  }

  /**
   * Submits a read.
   *
   * @param client for whom, for the trace
   * @return as of {@link VolumePort#submit}
   */
  public long read(
      BlockExtent extent, long offset, int length, boolean detached, ClientKind client) {
    return submit(Opcode.READ, extent, offset, length, extent.decision(), detached, client);
  }

  /** A command: its first byte in the namespace, and how many it has. */
  public record Command(long startByte, long bytes) {}

  /** The command that the ticket of a {@link #read} stands for: the last one. */
  public Command lastCommand(BlockExtent extent, long offset, int length) {
    long from = offset;
    long left = length;
    while (left > extent.contiguousBytes(from)) {
      left -= extent.contiguousBytes(from);
      from = offset + length - left;
    }
    return new Command(extent.address(from), space.lbas(left) * lbaBytes);
  }

  /**
   * Submits a write of whole pages.
   *
   * @param blockBytes the block's present length, which decides the directive
   * @param client for whom, for the trace
   * @return as of {@link VolumePort#submit}
   */
  public long write(
      BlockExtent extent,
      long offset,
      int length,
      long blockBytes,
      boolean detached,
      ClientKind client) {
    reclaimer.reclaim();
    HintDecision decision = extent.decision(blockBytes);
    synchronized (extent) {
      // A reader may have been sooner.
      if (extent.isDropped() || extent.mappedBytes() >= Math.min(offset + length, blockBytes)) {
        return TicketedIo.NOTHING;
      }
      trim(extent);
      place(extent, decision);
      long ticket = submit(Opcode.WRITE, extent, offset, length, decision, detached, client);
      if (ticket >= 0) {
        extent.written(offset, Math.min(offset + length, blockBytes));
      } else {
        boolean isFull = ticket == SimStatus.TIMEOUT;
        extent.lacks(isFull ? VolumeCounter.OVERLOADED_WRITES : VolumeCounter.REFUSED_WRITES);
      }
      return ticket;
    }
  }

  void reclaim(BlockExtent extent, long[] slots) {
    if (slots.length > 0) {
      reclaimer.free(slots, extent.reach());
    }
  }

  /** Waits for the device to have room for all that is to be deallocated, within the budget. */
  void drain(WaitBudget budget) {
    while (!reclaimer.isEmpty() && device.awaitRoom(budget, VolumeCounter.WRITER_WAIT_NS)) {
      reclaimer.reclaim();
    }
  }

  private long submit(
      int opcode,
      BlockExtent extent,
      long offset,
      int length,
      HintDecision decision,
      boolean detached,
      ClientKind client) {
    long first = Math.min(length, extent.contiguousBytes(offset));
    if (first < length) {
      // The range goes on in another slot: the last part's ticket stands for all of it.
      long status = submit(opcode, extent, offset, (int) first, decision, true, client);
      if (status < 0) {
        return status;
      }
      return submit(
          opcode, extent, offset + first, (int) (length - first), decision, detached, client);
    }
    long address = extent.address(offset);
    if (address == SlotAllocator.NONE) {
      full(extent);
      return SimStatus.CAPACITY;
    }
    boolean write = opcode == Opcode.WRITE;
    int directive = write ? extent.directive(decision) : Directive.NONE;
    long lbas = space.lbas(length);
    long ticket =
        device.submit(
            write ? extent : null, opcode, address / lbaBytes, (int) lbas, directive, detached);
    if (ticket >= 0) {
      TraceOp op = write ? TraceOp.WRITE : TraceOp.READ;
      record(op, extent, offset, (int) (lbas * lbaBytes), decision, client);
    }
    return ticket;
  }

  /** Traces what HDFS does to the block as a whole. */
  public void record(TraceOp op, BlockExtent extent, long offset, ClientKind client) {
    record(op, extent, offset, 0, extent.decision(), client);
  }

  private void record(
      TraceOp op,
      BlockExtent extent,
      long offset,
      int length,
      HintDecision decision,
      ClientKind client) {
    if (!trace.isRecording()) {
      return;
    }
    trace.record(
        op, extent.key(), extent.directoryId(), offset, length, decision.pattern(), client);
  }

  /** Deallocates what truncation left behind, before anything is written there again. */
  private void trim(BlockExtent extent) {
    long end = extent.takeTrimEnd();
    long from = (extent.mappedBytes() + pageBytes - 1) / pageBytes * pageBytes;
    if (from < end
        && forEachPart(
                extent,
                from,
                end,
                (offset, address, length) ->
                    address == SlotAllocator.NONE || deallocate(address, length))
            < end) {
      extent.putTrimEnd(end);
    }
  }

  private boolean deallocate(long address, long length) {
    long status =
        device.submit(
            null,
            Opcode.DEALLOCATE,
            address / lbaBytes,
            (int) space.lbas(length),
            Directive.NONE,
            true);
    return status != SimStatus.TIMEOUT;
  }

  /** No slot is left, unless it is the block that is gone. */
  private void full(BlockExtent extent) {
    if (!extent.isDropped()) {
      extent.lacks(VolumeCounter.REFUSED_WRITES);
      device.full();
    }
  }

  private void place(BlockExtent extent, HintDecision decision) {
    if (extent.isUnplaced()) {
      countPlacement(extent, decision);
    }
  }

  private void countPlacement(BlockExtent extent, HintDecision decision) {
    VolumeCounter hinted =
        extent.handle() > 0 ? VolumeCounter.LIFETIME_BLOCKS : VolumeCounter.HINTED_BLOCKS;
    counters.increment(
        extent.directive(decision) == Directive.NONE ? VolumeCounter.UNHINTED_BLOCKS : hinted);
    counters.increment(VolumeCounter.of(decision.source()));
    if (extent.isUnanswered()) {
      counters.increment(VolumeCounter.HINTS_NONE_BY_SILENCE);
    }
  }
}
