package org.hdfsmeld.datanode.layout;

import java.io.File;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.hdfsmeld.datanode.device.SharedDevice;
import org.hdfsmeld.datanode.device.VolumePort;
import org.hdfsmeld.datanode.device.WaitBudget;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.state.BlockRecord;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.trace.BlockTrace.VolumeTrace;
import org.hdfsmeld.trace.ClientKind;
import org.hdfsmeld.trace.TraceOp;

/**
 * The blocks of a volume on its device's namespace: the table of their extents. A block comes in
 * when it is created, or first written or read.
 */
public final class VolumeBlocks implements SharedDevice.BlockTable {
  private final BlockExtent.Space space;
  private final HintSource hints;
  private final Consumer<BlockExtent> deletions;
  private final ExtentIo io;
  private final boolean hasPast;
  private final ConcurrentHashMap<BlockKey, BlockExtent> extents = new ConcurrentHashMap<>();

  private final long slotCount;

  /** Equal for the same block, so that its question can be taken back. */
  private record HintListener(ExtentIo io, BlockExtent extent) implements Consumer<BlockHint> {
    @Override
    public void accept(BlockHint hint) {
      // That a NameNode does not know the block is nothing to decide by.
      if (hint.isKnown() && extent.isKnown()) {
        extent.rename(hint);
      } else if (hint.isKnown()) {
        io.decide(extent, hint);
      }
    }
  }

  /**
   * The blocks of a volume on its device, which is open, in slots of at least {@code minSlotBytes};
   * with those from before a restart. {@code deletions} gets each that is deleted.
   */
  public VolumeBlocks(
      VolumePort device,
      long minSlotBytes,
      LayoutPolicy policy,
      HintSource hints,
      Consumer<BlockExtent> deletions,
      Counters<VolumeCounter> counters,
      VolumeTrace trace) {
    this.hints = hints;
    this.deletions = deletions;
    NamespaceInfo namespace = device.namespace();
    long wordline = namespace.wordlineBytes();
    // Whole wordlines, so that a large block that goes on in another slot loses none.
    long slotBytes = (minSlotBytes + wordline - 1) / wordline * wordline;
    this.slotCount = namespace.sizeLbas() * namespace.lbaBytes() / slotBytes;
    SlotAllocator slots = new SlotAllocator(slotCount);
    this.space =
        new BlockExtent.Space(
            namespace, slotBytes, slots, policy, device.device()::changed, new AtomicLong());
    this.io = new ExtentIo(device, space, counters, trace);
    this.hasPast = device.device().hasPast();
    device.device().addBlocks(namespace.nsid(), this);
  }

  public ExtentIo io() {
    return io;
  }

  /**
   * What else the namespace holds is deallocated, but for a device's past behind the blocks;
   * replicas that are found are laid out anew.
   */
  @Override
  public int restore(Collection<BlockRecord> records, Predicate<BlockKey> intact) {
    BitSet used = new BitSet();
    long relaid = records.parallelStream().filter(record -> !restore(record, intact, used)).count();
    int fresh = used.length();
    space.allocator().restore(fresh);
    // First what may be given out at once: the device is idle still, and takes all of it.
    if (!hasPast) {
      io.reclaimer().freeRange(fresh, slotCount, false);
    }
    for (int gap = used.nextClearBit(0); gap < fresh; ) {
      int end = used.nextSetBit(gap);
      io.reclaimer().freeRange(gap, end, true);
      gap = used.nextClearBit(end);
    }
    return (int) relaid;
  }

  /** Whether something of it lies where it lay. */
  private boolean restore(BlockRecord record, Predicate<BlockKey> intact, BitSet used) {
    BlockExtent extent = new BlockExtent(space, record.key());
    extent.restore(record, intact.test(record.key()) && claim(used, record.slots()));
    extents.put(extent.key(), extent);
    return extent.mappedBytes() > 0;
  }

  /** False when one of the slots is another block's or does not exist. */
  private boolean claim(BitSet used, long[] claimed) {
    synchronized (used) {
      for (int i = 0; i < claimed.length; i++) {
        if (claimed[i] < 0 || claimed[i] >= slotCount || used.get((int) claimed[i])) {
          Arrays.stream(claimed, 0, i).forEach(slot -> used.clear((int) slot));
          return false;
        }
        used.set((int) claimed[i]);
      }
      return true;
    }
  }

  @Override
  public List<BlockRecord> records() {
    return extents.values().stream()
        .map(BlockExtent::record)
        .filter(record -> !record.isGone())
        .toList();
  }

  /** Blocks of which the device holds something. */
  public long count() {
    return space.held().get();
  }

  /**
   * The block's place, with what is known of how it will be read. Waits for nothing. Where the file
   * was deleted it has ended already.
   */
  public BlockExtent extent(BlockKey key, BlockFile file) {
    BlockExtent present = extents.get(key);
    if (present == null) {
      return create(key, BlockHint.NONE, file);
    }
    present.openedAt(file.file());
    ask(present);
    return present;
  }

  /** As {@link #extent}, for a client that begins to read the block. */
  public BlockExtent read(BlockKey key, BlockFile file) {
    BlockExtent extent = extent(key, file);
    if (extent.isFirst(BlockExtent.READ)) {
      renew(extent);
    }
    return extent;
  }

  /** Asks where the block's file is now: its writer may have renamed it. Waits for nothing. */
  public void renew(BlockExtent extent) {
    if (extent.isKnown()) {
      extent.renewing();
      hints.renew(extent.key(), new HintListener(io, extent));
    }
  }

  /**
   * Does something once it is known where the block's file is now: at once, unless that is being
   * asked for; never when the NameNode does not answer.
   */
  public void whenNamed(BlockExtent extent, Runnable action) {
    if (extent.isRenewing()) {
      hints.renew(extent.key(), unused -> action.run());
    } else {
      action.run();
    }
  }

  public BlockExtent find(BlockKey key) {
    return extents.get(key);
  }

  /**
   * Makes a place for a block, unless it has one; asks for a hint that is {@link BlockHint#NONE}.
   * Waits for nothing. Where the file was deleted the place has ended already.
   */
  public BlockExtent create(BlockKey key, BlockHint hint, BlockFile file) {
    BlockExtent created = new BlockExtent(space, key);
    created.decide(hint);
    created.openedAt(file.file());
    BlockExtent present = extents.putIfAbsent(created.key(), created);
    if (present != null) {
      return present;
    }
    if (file.exists()) {
      ask(created);
    } else if (extents.remove(key, created)) {
      // Whoever deleted the block found nothing to drop.
      end(created);
    }
    return created;
  }

  private void ask(BlockExtent extent) {
    if (hints == HintSource.NONE || extent.isKnown()) {
      return;
    }
    extent.asked();
    HintListener listener = new HintListener(io, extent);
    hints.ask(extent.key(), listener);
    if (extent.isDropped()) {
      hints.forget(extent.key(), listener);
    }
  }

  /** The block was cut: deallocates the rest, as far as the device has room. Waits for nothing. */
  public void truncate(BlockKey key, long length) {
    BlockExtent extent = extents.get(key);
    if (extent != null) {
      extent.truncate(length);
      io.record(TraceOp.TRUNCATE, extent, length, ClientKind.DATANODE);
      io.preload(extent, 0);
    }
  }

  /** The block was deleted: deallocates it. */
  public void drop(BlockKey key) {
    BlockExtent extent = remove(key);
    if (extent != null) {
      deletions.accept(extent);
    }
  }

  /** The block is here no more: deallocates it. Null when it was not here. */
  private BlockExtent remove(BlockKey key) {
    BlockExtent extent = extents.remove(key);
    if (extent != null) {
      io.record(TraceOp.DELETE, extent, 0, ClientKind.DATANODE);
      end(extent);
    }
    return extent;
  }

  /**
   * A file of the block was deleted, perhaps that of an older replica: it goes if it was its own.
   */
  public void drop(BlockKey key, File deleted) {
    BlockExtent extent = extents.get(key);
    if (extent != null && !extent.isElsewhere(deleted)) {
      drop(key);
    }
  }

  private void end(BlockExtent extent) {
    long[] freed = extent.drop();
    hints.forget(extent.key(), new HintListener(io, extent));
    io.reclaim(extent, freed);
  }

  /**
   * Deallocates all blocks; waits for the device to have room for that, as far as the budget goes.
   */
  public void clear(WaitBudget budget) {
    Set.copyOf(extents.keySet()).forEach(this::remove);
    io.drain(budget);
  }

  /** The pool is gone: deallocates its blocks. */
  public void dropPool(String pool) {
    of(pool).map(BlockExtent::key).forEach(this::remove);
  }

  /**
   * Compares the blocks from before a restart with the replicas on disk: drops those of a pool that
   * have none, and cuts or completes the others. Blocks written since are dropped when their files
   * are; a replica that is being moved here is on disk before HDFS knows it.
   *
   * @param lengths length of a block's replica in bytes, below 0 when it has none
   */
  public void reconcile(String pool, LongUnaryOperator lengths) {
    of(pool)
        .parallel()
        .filter(extent -> extent.isFirst(BlockExtent.COMPARED))
        .forEach(extent -> reconcile(extent, lengths.applyAsLong(extent.key().id())));
  }

  private void reconcile(BlockExtent extent, long length) {
    if (length < 0) {
      remove(extent.key());
    } else {
      extent.truncate(length);
      io.preload(extent, length);
    }
  }

  private Stream<BlockExtent> of(String pool) {
    return extents.values().stream().filter(extent -> extent.key().pool().equals(pool));
  }
}
