package org.hdfsmeld.datanode.hint;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.Coded;

/**
 * How the files and directories of a volume have been read.
 *
 * <p>Bounded: the entry that was used longest ago goes, about {@value #ENTRY_BYTES} bytes each.
 * Locked for some hundred nanoseconds when a run of reads ends and when a block begins, never for a
 * packet.
 */
final class ReadHistory {
  /** Heap of an entry: the key with the map's node, the mix with its two arrays. */
  static final int ENTRY_BYTES = 320;

  /** Whose reads are counted together. */
  enum Kind implements Coded {
    FILE(0),
    DIRECTORY(1),
    /** For blocks of which it is not known whose they are. */
    BLOCK(2);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    @Override
    public int code() {
      return code;
    }
  }

  /**
   * Names whose reads are counted together.
   *
   * @param id inode, or block id
   */
  record Key(Kind kind, String pool, long id) {}

  private final Map<Key, ReadMix> mixes;
  private final long halfLifeMs;
  private final LongSupplier clockMs;
  private boolean changed;

  /** An empty history of at most {@code maxEntries}. */
  ReadHistory(int maxEntries, long halfLifeMs, LongSupplier clockMs) {
    this.halfLifeMs = halfLifeMs;
    this.clockMs = clockMs;
    this.mixes =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<Key, ReadMix> eldest) {
            return size() > maxEntries;
          }
        };
  }

  /**
   * A run of sequential reads of a block has ended.
   *
   * @param hint what is known of whose block it is
   * @param outstandingBytes requested from the device when the reader waited, in the mean
   */
  synchronized void record(
      BlockKey block, BlockHint hint, long bytes, long reads, long outstandingBytes) {
    if (hint.fileId() == 0 && hint.directoryId() == 0) {
      mix(new Key(Kind.BLOCK, block.pool(), block.id())).add(bytes, reads, outstandingBytes);
    }
    if (hint.fileId() != 0) {
      mix(new Key(Kind.FILE, block.pool(), hint.fileId())).add(bytes, reads, outstandingBytes);
    }
    if (hint.directoryId() != 0) {
      mix(new Key(Kind.DIRECTORY, block.pool(), hint.directoryId()))
          .add(bytes, reads, outstandingBytes);
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

  /** What one does with a mix while it does not change. */
  interface Look<T> {
    T at(ReadMix mix);
  }

  /** Looks at how this was read; null when nothing is known. */
  synchronized <T> T look(Key key, Look<T> look) {
    ReadMix mix = mixes.get(key);
    if (mix == null) {
      return null;
    }
    mix.decay(clockMs.getAsLong(), halfLifeMs);
    return look.at(mix);
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

  /** Writes the entries, the one used longest ago first. */
  synchronized void write(DataOutput out) throws IOException {
    out.writeInt(mixes.size());
    for (Map.Entry<Key, ReadMix> entry : mixes.entrySet()) {
      Key key = entry.getKey();
      out.writeByte(key.kind().code());
      out.writeUTF(key.pool());
      out.writeLong(key.id());
      entry.getValue().write(out);
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
      Kind kind = Coded.of(Kind.values(), in.readByte());
      Key key = new Key(kind, in.readUTF(), in.readLong());
      mixes.put(key, ReadMix.read(in));
    }
  }

  synchronized void clear() {
    mixes.clear();
  }
}
