package org.hdfsmeld.datanode.layout;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.hdfsmeld.datanode.device.MeldDevice;
import org.hdfsmeld.datanode.device.TicketedIo;
import org.hdfsmeld.datanode.device.VolumeDevice;
import org.hdfsmeld.datanode.device.WaitBudget;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.VolumeCounters;
import org.hdfsmeld.datanode.state.BlockRecord;
import org.hdfsmeld.datanode.state.DeviceState;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.trace.ClientKind;
import org.hdfsmeld.trace.TraceOp;
import org.hdfsmeld.trace.VolumeTrace;

/**
 * The blocks of a volume on its device's namespace.
 *
 * <p>A block is mapped when it is first written or read. What its file holds and the device does
 * not know (written before a restart, or while forwarding was off) is preloaded: placed as if it
 * had been written long ago.
 */
public final class VolumeBlocks implements MeldDevice.BlockTable {
  private static final long PRELOAD_BYTES_MAX = 1L << 30;

  /** A command counts logical blocks, of 512 bytes at least, in 32 bits. */
  private static final long DEALLOCATE_BYTES_MAX = 1L << 39;

  private final VolumeDevice device;
  private final LayoutPolicy policy;
  private final BiConsumer<HintDecision, File> fileHints;
  private final HintSource hints;
  private final VolumeCounters counters;
  private final VolumeTrace trace;
  private final SlotAllocator slots;
  private final ConcurrentHashMap<BlockKey, BlockExtent> extents = new ConcurrentHashMap<>();

  /** Slots of ended blocks that are not deallocated yet, each with the bytes it may hold. */
  private final ConcurrentLinkedQueue<Ended> ended = new ConcurrentLinkedQueue<>();

  /** Blocks from before a restart that were not compared with their replicas yet. */
  private final Set<BlockKey> restored = ConcurrentHashMap.newKeySet();

  private final Consumer<DeviceState.Block> journal;
  private final int nsid;
  private final long lbaBytes;
  private final long pageBytes;
  private final long slotBytes;
  private final long sizeBytes;

  private record Ended(long slot, long bytes) {}

  /** Equal for the same block, so that its question can be taken back. */
  private record HintListener(VolumeBlocks blocks, BlockExtent extent)
      implements Consumer<BlockHint> {
    @Override
    public void accept(BlockHint hint) {
      blocks.decide(extent, hint);
    }
  }

  /**
   * The blocks of a volume on its device, which is open, in slots of at least {@code minSlotBytes};
   * with those from before a restart.
   *
   * @param fileHints gets each decision on a block, and the block's file, as data is written
   */
  public VolumeBlocks(
      VolumeDevice device,
      long minSlotBytes,
      LayoutPolicy policy,
      BiConsumer<HintDecision, File> fileHints,
      HintSource hints,
      VolumeCounters counters,
      VolumeTrace trace) {
    this.device = device;
    this.journal = device.device()::changed;
    this.policy = policy;
    this.fileHints = fileHints;
    this.hints = hints;
    this.counters = counters;
    this.trace = trace;
    NamespaceInfo namespace = device.namespace();
    this.nsid = namespace.nsid();
    this.lbaBytes = namespace.lbaBytes();
    this.pageBytes = namespace.pageBytes();
    long wordline = namespace.wordlineBytes();
    // Whole wordlines, so that a large block that goes on in another slot loses none.
    this.slotBytes = (minSlotBytes + wordline - 1) / wordline * wordline;
    this.sizeBytes = namespace.sizeLbas() * lbaBytes / slotBytes * slotBytes;
    this.slots = new SlotAllocator(sizeBytes / slotBytes);
    device.device().keep(nsid, this);
  }

  private BlockExtent newExtent(BlockKey key) {
    return new BlockExtent(nsid, key, policy, slots, slotBytes, lbaBytes, journal);
  }

  /** What else the namespace holds is deallocated; replicas that are found are laid out anew. */
  @Override
  public int restore(Collection<BlockRecord> records, Predicate<BlockKey> intact) {
    TreeSet<Long> used = new TreeSet<>();
    for (BlockRecord record : records) {
      BlockExtent extent = newExtent(record.key());
      extent.restore(record, intact.test(record.key()) && claim(used, record.slots()));
      extents.put(record.key(), extent);
      restored.add(record.key());
    }
    slots.restore(used);
    long next = 0;
    for (long slot : used) {
      deallocateAll(next * slotBytes, slot * slotBytes);
      next = slot + 1;
    }
    deallocateAll(next * slotBytes, sizeBytes);
    return (int) restored.stream().filter(key -> extents.get(key).mappedBytes() == 0).count();
  }

  /** False when one of the slots is another block's or does not exist. */
  private boolean claim(Set<Long> used, long[] claimed) {
    Set<Long> distinct = new TreeSet<>();
    for (long slot : claimed) {
      if (slot < 0 || slot >= sizeBytes / slotBytes || used.contains(slot) || !distinct.add(slot)) {
        return false;
      }
    }
    return used.addAll(distinct);
  }

  private void deallocateAll(long from, long to) {
    for (long at = from; at < to; at += DEALLOCATE_BYTES_MAX) {
      deallocate(at, Math.min(DEALLOCATE_BYTES_MAX, to - at));
    }
  }

  @Override
  public List<BlockRecord> records() {
    List<BlockRecord> records = new ArrayList<>(extents.size());
    for (BlockExtent extent : extents.values()) {
      BlockRecord record = extent.record();
      if (!record.isGone()) {
        records.add(record);
      }
    }
    return records;
  }

  /** Blocks of which the device holds something. */
  public long count() {
    return extents.values().stream().filter(extent -> extent.reach() > 0).count();
  }

  /**
   * The block's place, with what is known of how it will be read. Waits for nothing.
   *
   * @param file an open file of the block; where it was deleted the place has ended already
   */
  public BlockExtent extent(BlockKey key, BlockFile file) {
    BlockExtent present = extents.get(key);
    return present == null ? create(key, BlockHint.NONE, file) : present;
  }

  /** The block's place, or null when it has none. */
  public BlockExtent find(BlockKey key) {
    return extents.get(key);
  }

  /** Flash pages that hold the block; of those the buffered ones; of those the melded ones. */
  public long[] layout(BlockExtent extent) {
    long[] pages = new long[3];
    long[] part = new long[3];
    long bytes = extent.reach();
    for (long offset = 0; offset < bytes; offset += slotBytes) {
      long address = extent.address(offset);
      long length = Math.min(slotBytes, bytes - offset);
      if (address == SlotAllocator.NONE || !device.layout(address / lbaBytes, lbas(length), part)) {
        return pages;
      }
      Arrays.setAll(pages, i -> pages[i] + part[i]);
    }
    return pages;
  }

  /**
   * Makes a place for a block, unless it has one. Waits for nothing.
   *
   * @param hint the NameNode's; where it is {@link BlockHint#NONE} it is asked for
   * @param file an open file of the block; where it was deleted the place has ended already
   */
  public BlockExtent create(BlockKey key, BlockHint hint, BlockFile file) {
    BlockExtent created = newExtent(key);
    created.decide(hint);
    BlockExtent present = extents.putIfAbsent(key, created);
    if (present != null) {
      return present;
    }
    if (!file.exists()) {
      // Whoever deleted the block found nothing to drop.
      if (extents.remove(key, created)) {
        end(created);
      }
    } else if (hint.equals(BlockHint.NONE)) {
      HintListener listener = new HintListener(this, created);
      hints.ask(key, listener);
      if (created.isDropped()) {
        hints.forget(key, listener);
      }
    }
    return created;
  }

  /**
   * The block's hint has come. What is preloaded already is laid out anew: it shall lie as if the
   * hint had been known when it was written.
   */
  private void decide(BlockExtent extent, BlockHint hint) {
    synchronized (extent.order) {
      long bytes = extent.preloadedBytes();
      int before = policy.directive(extent.decision(bytes));
      extent.decide(hint);
      HintDecision decision = extent.decision(bytes);
      int directive = policy.directive(decision);
      if (bytes > 0 && directive != before && extent.enter()) {
        try {
          countPlacement(decision);
          preload(extent, 0, bytes, directive);
        } finally {
          deallocate(extent, extent.leave());
        }
      }
    }
  }

  /**
   * Bytes of the block that the device can read.
   *
   * @param fileBytes present length of the block's file
   */
  public long readableBytes(BlockExtent extent, long fileBytes) {
    if (extent.mappedBytes() < fileBytes && !extent.isWritten()) {
      preload(extent, fileBytes);
    }
    return Math.min(extent.mappedBytes(), fileBytes);
  }

  /** Makes the device hold the block up to {@code bytes}, as if long since written. */
  public void preload(BlockExtent extent, long bytes) {
    synchronized (extent.order) {
      if (!extent.enter()) {
        return;
      }
      try {
        trim(extent);
        long offset = extent.mappedBytes();
        if (offset < bytes) {
          HintDecision decision = extent.decision(bytes);
          place(extent, decision);
          preload(extent, offset - offset % pageBytes, bytes, policy.directive(decision));
        }
      } finally {
        deallocate(extent, extent.leave());
      }
    }
  }

  private void preload(BlockExtent extent, long from, long to, int directive) {
    long offset = from;
    while (offset < to) {
      long length =
          Math.min(Math.min(to - offset, extent.contiguousBytes(offset)), PRELOAD_BYTES_MAX);
      long address = extent.address(offset);
      if (address == SlotAllocator.NONE) {
        full(extent);
        return;
      }
      // The device's thread may refuse it at once: the extent hears of that afterwards.
      synchronized (extent) {
        if (!device.preload(extent, address / lbaBytes, (int) lbas(length), directive)) {
          return;
        }
        extent.preloaded(offset, offset + length);
      }
      offset += length;
    }
  }

  /**
   * Submits a read.
   *
   * @param client for whom, for the trace
   * @return as of {@link VolumeDevice#submit}
   */
  public long read(
      BlockExtent extent, long offset, int length, boolean detached, ClientKind client) {
    return submit(Opcode.READ, extent, offset, length, extent.decision(), detached, client);
  }

  /**
   * A command.
   *
   * @param startByte its first byte in the namespace
   * @param bytes how many it has
   */
  public record Command(long startByte, long bytes) {}

  /** The command that the ticket of a {@link #read} stands for: the last one. */
  public Command lastCommand(BlockExtent extent, long offset, int length) {
    long from = offset;
    long left = length;
    while (left > extent.contiguousBytes(from)) {
      left -= extent.contiguousBytes(from);
      from = offset + length - left;
    }
    return new Command(extent.address(from), lbas(left) * lbaBytes);
  }

  /**
   * Submits a write of whole pages.
   *
   * @param blockBytes the block's present length, which decides the directive
   * @param file the block's file, or null where it must not be touched
   * @param client for whom, for the trace
   * @return as of {@link VolumeDevice#submit}
   */
  public long write(
      BlockExtent extent,
      long offset,
      int length,
      long blockBytes,
      File file,
      boolean detached,
      ClientKind client) {
    reclaim();
    synchronized (extent.order) {
      if (!extent.enter()) {
        return TicketedIo.NOTHING;
      }
      try {
        trim(extent);
        HintDecision decision = extent.decision(blockBytes);
        place(extent, decision);
        if (file != null && extent.changesFile(decision)) {
          fileHints.accept(decision, file);
        }
        // As above.
        synchronized (extent) {
          long ticket = submit(Opcode.WRITE, extent, offset, length, decision, detached, client);
          if (ticket >= 0) {
            extent.written(offset, Math.min(offset + length, blockBytes));
          }
          return ticket;
        }
      } finally {
        deallocate(extent, extent.leave());
      }
    }
  }

  /** The block was cut: deallocates what the device holds past its end. Waits for nothing. */
  public void truncate(BlockKey key, long length) {
    BlockExtent extent = extents.get(key);
    if (extent != null) {
      extent.truncate(length);
      synchronized (extent.order) {
        if (extent.enter()) {
          try {
            trim(extent);
          } finally {
            deallocate(extent, extent.leave());
          }
        }
      }
      recordWhole(TraceOp.TRUNCATE, extent, length, ClientKind.DATANODE);
    }
  }

  /** The block is gone: deallocates it. */
  public void drop(BlockKey key) {
    BlockExtent extent = extents.remove(key);
    if (extent == null) {
      return;
    }
    recordWhole(TraceOp.DELETE, extent, 0, ClientKind.DATANODE);
    end(extent);
  }

  private void end(BlockExtent extent) {
    long[] endedSlots = extent.drop();
    hints.forget(extent.key(), new HintListener(this, extent));
    deallocate(extent, endedSlots);
  }

  /** As soon as the device has room for it. */
  private void deallocate(BlockExtent extent, long[] endedSlots) {
    if (endedSlots.length == 0) {
      return;
    }
    long left = extent.reach();
    for (long slot : endedSlots) {
      long length = Math.min(left, slotBytes);
      ended.add(new Ended(slot, length));
      left -= length;
    }
    reclaim();
  }

  /**
   * Deallocates all blocks; waits for the device to have room for that, as far as the budget goes.
   */
  public void clear(WaitBudget budget) {
    Set.copyOf(extents.keySet()).forEach(this::drop);
    while (!ended.isEmpty() && device.awaitRoom(budget, counters.writerWaitNs)) {
      reclaim();
    }
  }

  /** Deallocates and frees the slots of ended blocks, as far as the device has room. */
  private void reclaim() {
    Ended next = ended.poll();
    while (next != null) {
      if (next.bytes() > 0 && !deallocate(next.slot() * slotBytes, next.bytes())) {
        ended.add(next);
        return;
      }
      slots.free(next.slot());
      next = ended.poll();
    }
  }

  /** The pool is gone: deallocates its blocks. */
  public void dropPool(String pool) {
    of(pool).forEach(this::drop);
  }

  /**
   * Compares the blocks from before a restart with the replicas on disk: drops those of a pool that
   * have none, and cuts or completes the others. Blocks written since are dropped when their files
   * are; a replica that is being moved here is on disk before HDFS knows it.
   *
   * @param lengths length of a block's replica in bytes, below 0 when it has none
   */
  public void reconcile(String pool, LongUnaryOperator lengths) {
    for (BlockKey key : of(pool)) {
      BlockExtent extent = restored.remove(key) ? extents.get(key) : null;
      if (extent == null) {
        continue;
      }
      long length = lengths.applyAsLong(key.id());
      if (length < 0) {
        drop(key);
      } else {
        extent.truncate(length);
        preload(extent, length);
      }
    }
  }

  private List<BlockKey> of(String pool) {
    return extents.keySet().stream().filter(key -> key.pool().equals(pool)).toList();
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
    int directive = write ? policy.directive(decision) : Directive.NONE;
    long lbas = lbas(length);
    long ticket =
        device.submit(
            write ? extent : null, opcode, address / lbaBytes, (int) lbas, directive, detached);
    if (ticket >= 0 && trace.isRecording()) {
      TraceOp op = write ? TraceOp.WRITE : TraceOp.READ;
      record(op, extent, offset, (int) (lbas * lbaBytes), decision, client);
    }
    return ticket;
  }

  /** The device was made to keep what was written of the block. */
  public void flushed(BlockExtent extent, ClientKind client) {
    recordWhole(TraceOp.FLUSH, extent, 0, client);
  }

  private void recordWhole(TraceOp op, BlockExtent extent, long offset, ClientKind client) {
    if (trace.isRecording()) {
      record(op, extent, offset, 0, extent.decision(), client);
    }
  }

  private void record(
      TraceOp op,
      BlockExtent extent,
      long offset,
      int length,
      HintDecision decision,
      ClientKind client) {
    BlockKey key = extent.key();
    int pattern =
        switch (decision.pattern()) {
          case SEQUENTIAL -> 1;
          case RANDOM -> 2;
          case NONE, AUTO, UNKNOWN -> 0;
        };
    trace.record(
        op,
        key.pool().hashCode(),
        key.id(),
        extent.hint().directoryId(),
        offset,
        length,
        pattern,
        client);
  }

  /** Deallocates what truncation left behind, before anything is written there again. */
  private void trim(BlockExtent extent) {
    long end = extent.takeTrimEnd();
    long offset = extent.mappedBytes() + pageBytes - 1;
    offset -= offset % pageBytes;
    while (offset < end) {
      long length = Math.min(end - offset, extent.contiguousBytes(offset));
      long address = extent.address(offset);
      if (address != SlotAllocator.NONE && !deallocate(address, length)) {
        extent.putTrimEnd(end);
        return;
      }
      offset += length;
    }
  }

  /** False when the device has no room for the command at present. */
  private boolean deallocate(long address, long length) {
    long status =
        device.submit(
            null, Opcode.DEALLOCATE, address / lbaBytes, (int) lbas(length), Directive.NONE, true);
    return status != SimStatus.TIMEOUT;
  }

  /** No slot is left, unless it is the block that is gone. */
  private void full(BlockExtent extent) {
    if (!extent.isDropped()) {
      device.full();
    }
  }

  private void place(BlockExtent extent, HintDecision decision) {
    if (extent.place()) {
      countPlacement(decision);
    }
  }

  private void countPlacement(HintDecision decision) {
    (policy.directive(decision) == Directive.NONE ? counters.unhintedBlocks : counters.hintedBlocks)
        .increment();
    counters.laidOut(decision.source());
  }

  /** Logical blocks that {@code length} bytes take, up to whole pages. */
  private long lbas(long length) {
    return (length + pageBytes - 1) / pageBytes * (pageBytes / lbaBytes);
  }
}
