package org.hdfsmeld.datanode.layout;

import java.io.File;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.hdfsmeld.datanode.device.WrittenExtent;
import org.hdfsmeld.datanode.state.BlockRecord;
import org.hdfsmeld.datanode.state.DeviceState;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.sim.NamespaceInfo;

/**
 * Where a block lies on the device: a list of slots, of which the bytes from 0 to {@code mapped}
 * hold data.
 *
 * <p>Bookkeeping only, under its own short lock, so that it may be called under Hadoop's locks.
 * Device commands that must keep their order are issued under {@link #order}.
 */
public final class BlockExtent implements DeviceState.Block, WrittenExtent {
  private static final long[] NO_SLOTS = {};

  /**
   * Held while commands that depend on each other are issued. Under Hadoop's locks only by streams
   * that nothing else writes beside, so that nobody waits for the device there.
   */
  final Object order = new Object();

  /**
   * What the blocks of a volume share.
   *
   * @param slotBytes bytes of a slot
   * @param journal hears when an extent has changed since {@link #takeRecord}, and says whether it
   *     took that; must not wait
   * @param held counts the blocks of which the device holds something
   */
  record Space(
      NamespaceInfo namespace,
      long slotBytes,
      SlotAllocator allocator,
      LayoutPolicy policy,
      Predicate<DeviceState.Block> journal,
      AtomicLong held) {

    /** Logical blocks that so many bytes take, up to whole pages. */
    long lbas(long bytes) {
      long pageBytes = namespace.pageBytes();
      return (bytes + pageBytes - 1) / pageBytes * (pageBytes / namespace.lbaBytes());
    }
  }

  private final Space space;
  private final BlockKey key;

  private long[] slots = NO_SLOTS;
  private long mapped;

  /** The device holds nothing of the block past this; there may be gaps after {@link #mapped}. */
  private long reach;

  private long trimEnd;
  private int writers;
  private boolean dropped;

  /** Whether commands are being issued to the slots. */
  private boolean inUse;

  /** Slots of the ended block that may still be in use. */
  private long[] ending = NO_SLOTS;

  /** Bytes from the block's start that were preloaded, and never written. */
  private long preloaded;

  /** Whether the journal has heard of a change. */
  private boolean changed;

  private volatile BlockHint hint = BlockHint.NONE;
  private volatile HintDecision decision = HintDecision.BY_SIZE;
  private volatile int handle;

  /** Its kind when it began, by which it was laid out; 0 when that is not known. */
  private volatile long bornAs;

  private volatile boolean asked;

  /** Whether a client reads it since the DataNode knows it, and a run of that was counted. */
  private boolean read;

  private boolean counted;

  /** Whether its path is being asked for anew. */
  private boolean renewing;

  /** Where the replica was when it was opened last; null when that is not known. */
  private volatile File file;

  /** A block of which the device holds nothing. */
  BlockExtent(Space space, BlockKey key) {
    this.space = space;
    this.key = key;
  }

  /**
   * Takes over what was decided on the block before a restart, and where it lay.
   *
   * @param intact whether it lies there still
   */
  synchronized void restore(BlockRecord record, boolean intact) {
    decision = record.decision();
    hint = record.hint();
    bornAs = record.bornAs();
    handle = space.policy.handle(hint);
    if (!intact) {
      return;
    }
    slots = record.slots();
    mapped = record.mapped();
    reach(record.reach());
    // What a truncation had left may be there still.
    trimEnd = reach;
  }

  @Override
  public synchronized BlockRecord takeRecord() {
    changed = false;
    return record();
  }

  synchronized BlockRecord record() {
    int nsid = space.namespace.nsid();
    return new BlockRecord(nsid, key, mapped, reach, slots, decision, hint, bornAs);
  }

  private void change() {
    changed = changed || space.journal.test(this);
  }

  public BlockKey key() {
    return key;
  }

  /** What the NameNode said of the block, as far as it has. */
  public BlockHint hint() {
    return hint;
  }

  /** The NameNode said this of the block: decides what is written from now on. */
  synchronized void decide(BlockHint newHint) {
    bornAs = newHint.kind();
    decision = space.policy.decide(newHint);
    handle = space.policy.handle(newHint);
    rename(newHint);
  }

  /** The NameNode said this of a block that is laid out already. When it began stays. */
  synchronized void rename(BlockHint newHint) {
    renewing = false;
    BlockHint named = hint.bornMs() == 0 ? newHint : newHint.bornAt(hint.bornMs());
    if (!named.equals(hint)) {
      hint = named;
      if (slots.length > 0) {
        change();
      }
    }
  }

  /** Its path is asked for anew. */
  synchronized void renewing() {
    renewing = true;
  }

  /** A client reads the block; false when one has done so before. */
  synchronized boolean beginsToBeRead() {
    boolean begins = !read;
    read = true;
    return begins;
  }

  /** A run of reads of the block is counted; false when one was before. */
  public synchronized boolean beginsToCount() {
    boolean begins = !counted;
    counted = true;
    return begins;
  }

  public synchronized boolean isRenewing() {
    return renewing;
  }

  /** Its kind when it began; 0 when that is not known. */
  public long bornAs() {
    return bornAs;
  }

  void asked() {
    asked = true;
  }

  boolean isUnanswered() {
    return asked && !hint.isKnown();
  }

  void openedAt(File present) {
    if (present != null) {
      file = present;
    }
  }

  /** Whether the replica is there still, and not where {@code other} was. */
  boolean isElsewhere(File other) {
    File present = file;
    return present != null && !present.equals(other) && present.exists();
  }

  /** How the block will be read, by what the device has of it. */
  public HintDecision decision() {
    return decision(mappedBytes());
  }

  /** How a block of this length will be read, if it is this one. */
  HintDecision decision(long blockBytes) {
    return space.policy.atSize(decision, blockBytes);
  }

  /** The directive of a write that is part of a block of this length, if it is this one. */
  int directive(HintDecision settled) {
    return space.policy.directive(handle, settled);
  }

  /** The reclaim unit handle that it belongs to; 0 for none in particular. */
  public int handle() {
    return handle;
  }

  /** The block begins now, unless it was there before. */
  public synchronized void begins() {
    if (reach == 0) {
      hint = hint.bornAt(System.currentTimeMillis());
    }
  }

  /** Whether a block of this length, if it is this one, is too short to be written yet. */
  public boolean defers(long blockBytes) {
    return space.policy.defers(decision, blockBytes);
  }

  /** Bytes from the block's start that the device holds. */
  public synchronized long mappedBytes() {
    return mapped;
  }

  /**
   * The device holds at least {@code to} bytes of the block now, of which it preloaded the last.
   */
  synchronized void preloaded(long from, long to) {
    if (from <= preloaded) {
      preloaded = Math.max(preloaded, to);
    }
    mapped = Math.max(mapped, to);
    reach(Math.max(reach, to));
    change();
  }

  synchronized long preloadedBytes() {
    return preloaded;
  }

  /**
   * The device took a write of this range. What lies past a gap, which a refused write left, does
   * not count as mapped.
   */
  synchronized void written(long from, long to) {
    reach(Math.max(reach, to));
    preloaded = Math.min(preloaded, from);
    if (from <= mapped) {
      mapped = Math.max(mapped, to);
    }
    change();
  }

  @Override
  public synchronized void lost(long slba) {
    long address = slba * space.namespace.lbaBytes();
    long slotBytes = space.slotBytes;
    for (int i = 0; i < slots.length; i++) {
      if (slots[i] == address / slotBytes) {
        mapped = Math.min(mapped, i * slotBytes + address % slotBytes);
        preloaded = Math.min(preloaded, mapped);
        change();
      }
    }
  }

  /** Where the last byte of the block on the device may be. */
  public synchronized long reach() {
    return reach;
  }

  /**
   * The byte address of {@code offset} in the namespace, allocating its slot.
   *
   * @return {@link SlotAllocator#NONE} when the namespace is full or the block is gone
   */
  public synchronized long address(long offset) {
    long slotBytes = space.slotBytes;
    int index = (int) (offset / slotBytes);
    if (dropped) {
      return SlotAllocator.NONE;
    }
    while (slots.length <= index) {
      long slot = space.allocator.allocate();
      if (slot == SlotAllocator.NONE) {
        return SlotAllocator.NONE;
      }
      slots = Arrays.copyOf(slots, slots.length + 1);
      slots[slots.length - 1] = slot;
    }
    return slots[index] * slotBytes + offset % slotBytes;
  }

  long contiguousBytes(long offset) {
    return space.slotBytes - offset % space.slotBytes;
  }

  public synchronized void writerOpened() {
    writers++;
  }

  public synchronized void writerClosed() {
    writers--;
  }

  /** Whether the block is being written, so that its file may be ahead of the device. */
  public synchronized boolean isWritten() {
    return writers > 0;
  }

  synchronized boolean isUnplaced() {
    return slots.length == 0;
  }

  /** The block was cut to {@code length} bytes: what follows is deallocated later. */
  public synchronized void truncate(long length) {
    if (length < mapped) {
      trimEnd = Math.max(trimEnd, mapped);
      mapped = length;
      preloaded = Math.min(preloaded, length);
      change();
    }
  }

  /** Takes the end of what truncation has left behind since it was last asked; 0 for nothing. */
  synchronized long takeTrimEnd() {
    long end = trimEnd;
    trimEnd = 0;
    return end;
  }

  synchronized void putTrimEnd(long end) {
    trimEnd = Math.max(trimEnd, end);
  }

  public synchronized boolean isDropped() {
    return dropped;
  }

  /**
   * Commands are about to be issued to the block's slots, which stay its own until {@link #endIo}.
   * Under {@link #order}.
   *
   * @return false when the block has ended
   */
  synchronized boolean beginIo() {
    inUse = !dropped;
    return inUse;
  }

  /**
   * The commands have been issued.
   *
   * @return slots to deallocate, when the block has ended meanwhile
   */
  synchronized long[] endIo() {
    inUse = false;
    return takeEnding();
  }

  /**
   * Ends the block.
   *
   * @return slots to deallocate; none when it has ended before, or while they are in use
   */
  synchronized long[] drop() {
    if (!dropped) {
      dropped = true;
      if (reach > 0) {
        space.held().decrementAndGet();
      }
      ending = slots;
      slots = NO_SLOTS;
      if (ending.length > 0) {
        change();
      }
    }
    return inUse ? NO_SLOTS : takeEnding();
  }

  private void reach(long to) {
    // What was dropped is held no more, whatever its last command still does.
    if (!dropped && reach == 0 && to > 0) {
      space.held().incrementAndGet();
    }
    reach = to;
  }

  private long[] takeEnding() {
    long[] taken = ending;
    ending = NO_SLOTS;
    return taken;
  }
}
