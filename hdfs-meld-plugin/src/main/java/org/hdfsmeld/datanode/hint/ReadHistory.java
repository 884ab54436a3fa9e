package org.hdfsmeld.datanode.hint;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.PersistentEnum;

/**
 * How the files and directories of a volume have been read.
 *
 * <p>Bounded: the entry that was used longest ago goes, about {@value #ENTRY_BYTES} bytes each.
 * Locked for some hundred nanoseconds when a run of reads ends, when a block begins, and for each
 * entry that is saved; never for a packet.
 */
final class ReadHistory {
  /** Heap of an entry: the key with the map's node, the mix with its two arrays. */
  static final int ENTRY_BYTES = 320;

  /** Whose reads are counted together. */
  enum Kind implements PersistentEnum {
    FILE("the file"),
    DIRECTORY("its directory"),
    /** For blocks of which it is not known whose they are. */
    BLOCK("the block");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }

  /**
   * Names whose reads are counted together.
   *
   * @param id inode, or block id
   */
  record Key(Kind kind, String pool, long id) {
    /** The block's file and directory, as far as they are known; else the block. */
    static List<Key> of(BlockKey block, BlockHint hint) {
      Key file = new Key(Kind.FILE, block.pool(), hint.fileId());
      Key directory = new Key(Kind.DIRECTORY, block.pool(), hint.directoryId());
      List<Key> known = Stream.of(file, directory).filter(key -> key.id != 0).toList();
      return known.isEmpty() ? List.of(new Key(Kind.BLOCK, block.pool(), block.id())) : known;
    }
  }

  private final Map<Key, ReadMix> mixes;
  private final long halfLifeMs;
  private final LongSupplier clockMs;
  private boolean changed;

  ReadHistory(int maxEntries, long halfLifeMs, LongSupplier clockMs) {
    this.halfLifeMs = halfLifeMs;
    this.clockMs = clockMs;
    this.mixes = new LeastRecentlyUsed<>(maxEntries);
  }

  /**
   * A run of sequential reads of a block has ended.
   *
   * @param hint what is known of whose block it is
   * @param outstandingBytes requested from the device when the reader waited, in the mean
   */
  synchronized void record(
      BlockKey block, BlockHint hint, long bytes, long reads, long outstandingBytes) {
    for (Key key : Key.of(block, hint)) {
      mix(key).add(bytes, reads, outstandingBytes);
    }
    changed = true;
  }

  private ReadMix mix(Key key) {
    long now = clockMs.getAsLong();
    ReadMix mix = mixes.get(key);
    if (mix == null) {
      mix = new ReadMix(now);
      mixes.put(key, mix);
    } else {
      mix.decay(now, halfLifeMs);
    }
    return mix;
  }

  /** How this was read until now; null when nothing is known. */
  synchronized ReadMix look(Key key) {
    ReadMix mix = mixes.get(key);
    if (mix == null) {
      return null;
    }
    mix.decay(clockMs.getAsLong(), halfLifeMs);
    return mix.copy();
  }

  synchronized int size() {
    return mixes.size();
  }

  /** Whether something was recorded since this was last asked. */
  synchronized boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }

  /** Writes the entries, the one used longest ago first. {@code out} must be memory. */
  void write(DataOutput out) throws IOException {
    List<Map.Entry<Key, ReadMix>> entries;
    synchronized (this) {
      entries = new ArrayList<>(mixes.entrySet());
    }
    out.writeInt(entries.size());
    for (Map.Entry<Key, ReadMix> entry : entries) {
      Key key = entry.getKey();
      out.writeByte(key.kind().code());
      out.writeUTF(key.pool());
      out.writeLong(key.id());
      synchronized (this) {
        entry.getValue().write(out);
      }
    }
  }

  /**
   * Adds the entries that were written.
   *
   * @throws IOException when they cannot have been; those before the fault are added
   */
  synchronized void read(DataInput in) throws IOException {
    int count = in.readInt();
    for (int i = 0; i < count; i++) {
      Kind kind = PersistentEnum.of(Kind.values(), in.readByte());
      Key key = new Key(kind, in.readUTF(), in.readLong());
      mixes.put(key, ReadMix.read(in));
    }
  }

  synchronized void clear() {
    mixes.clear();
  }
}
