package org.hdfsmeld.datanode.layout;

import java.io.File;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.thirdparty.com.google.common.collect.Interner;
import org.apache.hadoop.thirdparty.com.google.common.collect.Interners;
import org.hdfsmeld.datanode.device.WrittenExtent;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
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
 * Device commands that must keep their order are put in under it too, which waits for nothing.
 */
public final class BlockExtent implements DeviceState.Block, WrittenExtent {
  private static final long[] NO_SLOTS = {};

  /** A client reads the block. */
  static final byte READ = 1;

  /** A run of reads of the block is counted. */
  public static final byte COUNTED = 2;

  /** The block is compared with its replica. */
  static final byte COMPARED = 4;

  private static final Interner<Object> VALUES = Interners.newWeakInterner();

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

  /** The first slot, of a namespace of at most 2^20; most blocks have no other. */
  private int slot = (int) SlotAllocator.NONE;

  /** All slots of a block that has several, else none. */
  private long[] several = NO_SLOTS;

  private long mapped;

  /** The device holds nothing of the block past this; there may be gaps after {@link #mapped}. */
  private long reach;

  private long trimEnd;
  private short writers;
  private boolean dropped;

  /** Bytes from the block's start that were preloaded, and never written. */
  private long preloaded;

  /** Why the device lacks something of the block, if it does. */
  private volatile byte lacks = (byte) VolumeCounter.UNSEEN_WRITES.ordinal();

  /** Whether the journal has heard of a change. */
  private boolean changed;

  /** Shared by the blocks of a file; when this one began is beside it. */
  private volatile BlockHint hint = BlockHint.NONE;

  private volatile long bornMs;
  private volatile HintDecision decision = HintDecision.BY_SIZE;
  private volatile short handle;

  /** Its kind when it began, by which it was laid out; 0 when that is not known. */
  private volatile long bornAs;

  private volatile boolean asked;

  /** What of these was once; only a block from before a restart is still to be compared. */
  private byte begun = COMPARED;

  /** Whether its path is being asked for anew. */
  private boolean renewing;

  /** Where the replica's file was when it was opened last; null when that is not known. */
  private volatile File folder;

  /** A block of which the device holds nothing. */
  BlockExtent(Space space, BlockKey key) {
    this.space = space;
    this.key = new BlockKey(key.pool().intern(), key.id());
  }

  /** The one of all that are equal: there are as many blocks as replicas, and few values. */
  @SuppressWarnings("unchecked")
  private static <T> T shared(T value) {
    return (T) VALUES.intern(value);
  }

  /**
   * Takes over what was decided on the block before a restart, and where it lay.
   *
   * @param intact whether it lies there still
   */
  synchronized void restore(BlockRecord record, boolean intact) {
    begun = 0;
    decision = shared(record.decision());
    hint = shared(record.hint().bornAt(0));
    bornMs = record.hint().bornMs();
    bornAs = record.bornAs();
    handle = (short) space.policy.handle(hint);
    if (!intact) {
      return;
    }
    slots(record.slots());
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
    return new BlockRecord(nsid, key, mapped, reach, slots(), decision, hint(), bornAs);
  }

  private long[] slots() {
    return several.length > 0 || isUnplaced() ? several : new long[] {slot};
  }

  private void slots(long[] all) {
    slot = all.length == 0 ? (int) SlotAllocator.NONE : (int) all[0];
    several = all.length > 1 ? all : NO_SLOTS;
  }

  private void change() {
    changed = changed || space.journal.test(this);
  }

  @Override
  public BlockKey key() {
    return key;
  }

  /** What the NameNode said of the block, as far as it has. */
  public BlockHint hint() {
    return hint.bornAt(bornMs);
  }

  /** Inode of its file's directory; 0 when that is not known. */
  long directoryId() {
    return hint.directoryId();
  }

  /** Whether the NameNode has said something of the block. */
  boolean isKnown() {
    return hint.isKnown();
  }

  /** The NameNode said this of the block: decides what is written from now on. */
  synchronized void decide(BlockHint newHint) {
    bornAs = newHint.kind();
    decision = shared(space.policy.decide(newHint));
    handle = (short) space.policy.handle(newHint);
    rename(newHint);
  }

  /** The NameNode said this of a block that is laid out already. When it began stays. */
  synchronized void rename(BlockHint newHint) {
    renewing = false;
    BlockHint named = newHint.bornAt(0);
    long born = bornMs == 0 ? newHint.bornMs() : bornMs;
    if (!named.equals(hint) || born != bornMs) {
      hint = shared(named);
      bornMs = born;
      if (!isUnplaced()) {
        change();
      }
    }
  }

  /** Its path is asked for anew. */
  synchronized void renewing() {
    renewing = true;
  }

  /** It is {@link #READ}, {@link #COUNTED} or {@link #COMPARED}; false when it was before. */
  public synchronized boolean isFirst(byte what) {
    boolean isFirst = (begun & what) == 0;
    begun |= what;
    return isFirst;
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
      folder = shared(present.getParentFile());
    }
  }

  /** Whether the replica is there still, and not where {@code other} was. */
  boolean isElsewhere(File other) {
    File parent = folder;
    File present = parent == null ? null : new File(parent, Block.BLOCK_FILE_PREFIX + key.id());
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
      bornMs = System.currentTimeMillis();
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
    long[] slots = slots();
    for (int i = 0; i < slots.length; i++) {
      if (slots[i] == address / slotBytes) {
        lacks(VolumeCounter.REFUSED_WRITES);
        mapped = Math.min(mapped, i * slotBytes + address % slotBytes);
        preloaded = Math.min(preloaded, mapped);
        change();
      }
    }
  }

  /** The device did not get something of the block, which is counted by this. */
  public void lacks(VolumeCounter cause) {
    lacks = (byte) cause.ordinal();
  }

  /** By what is counted that the device lacks something of the block. */
  public VolumeCounter lacks() {
    return VolumeCounter.values()[lacks];
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
    if (index == 0 && !isUnplaced()) {
      return slot * slotBytes + offset % slotBytes;
    }
    long[] slots = slots();
    while (slots.length <= index) {
      long next = space.allocator.allocate();
      if (next == SlotAllocator.NONE) {
        return SlotAllocator.NONE;
      }
      slots = Arrays.copyOf(slots, slots.length + 1);
      slots[slots.length - 1] = next;
      slots(slots);
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
    return slot == SlotAllocator.NONE;
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
   * Ends the block.
   *
   * @return slots to deallocate; none when it has ended before
   */
  synchronized long[] drop() {
    long[] ended = slots();
    if (!dropped) {
      dropped = true;
      if (reach > 0) {
        space.held().decrementAndGet();
      }
      slots(NO_SLOTS);
      if (ended.length > 0) {
        change();
      }
    }
    return ended;
  }

  private void reach(long to) {
    // What was dropped is held no more, whatever its last command still does.
    if (!dropped && reach == 0 && to > 0) {
      space.held().incrementAndGet();
    }
    reach = to;
  }
}
