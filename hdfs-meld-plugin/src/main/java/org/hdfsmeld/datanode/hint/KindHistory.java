package org.hdfsmeld.datanode.hint;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.hdfsmeld.model.BlockHint;

/**
 * How the files of a volume have been read and how long their blocks lived, by the {@link
 * org.hdfsmeld.model.PathKind} of their paths.
 *
 * <p>Bounded: the kinds that were used least, of late, go, about {@value #ENTRY_BYTES} bytes each.
 * Locked for some hundred nanoseconds when a run of reads ends, when a block begins or has died,
 * and for each kind that is saved; never for a packet.
 */
final class KindHistory {
  /** Heap of an entry: the key with the map's node, the numbers, the mix with its two arrays. */
  static final int ENTRY_BYTES = 320;

  /** Room is made for one in so many kinds at once. */
  private static final int ROOM = 8;

  /** The handle of blocks whose lifetime nobody knows. */
  private static final int UNKNOWN = 0;

  /** The upper bound of a class of lifetimes is so many times as high as that of the one before. */
  private static final int STEP = 4;

  /** Deletions over which a kind's mean goes. */
  static final int MEMORY = 32;

  /** What is known of a kind. */
  static final class Kind {
    final long firstMs;
    final ReadMix mix;

    /** Runs of reads, births and deaths, which count as reads do. */
    private double uses;

    /** Blocks that were read; those that a DataNode found when it began count once more. */
    long blocks;

    /** Deletions, at most {@link #MEMORY}. */
    int deaths;

    /** Mean of the logarithms of lives in milliseconds. */
    private double meanLn;

    private Kind(long firstMs, ReadMix mix) {
      this.firstMs = firstMs;
      this.mix = mix;
    }

    private Kind copy() {
      Kind copy = new Kind(firstMs, mix.copy());
      copy.uses = uses;
      copy.blocks = blocks;
      copy.deaths = deaths;
      copy.meanLn = meanLn;
      return copy;
    }

    double lifeMs() {
      return Math.exp(meanLn);
    }
  }

  private final Map<Long, Kind> kinds = new LinkedHashMap<>();
  private final int maxKinds;
  private final long halfLifeMs;
  private final long shortestMs;
  private final LongSupplier clockMs;
  private boolean changed;

  /** Of nothing yet. {@code shortestMs} is the upper bound of the first class of lifetimes. */
  KindHistory(int maxKinds, long halfLifeMs, long shortestMs, LongSupplier clockMs) {
    this.maxKinds = maxKinds;
    this.halfLifeMs = halfLifeMs;
    this.shortestMs = shortestMs;
    this.clockMs = clockMs;
  }

  /** The kinds that something known of a block goes to, each once. */
  private static long[] kinds(BlockHint hint, long bornAs) {
    boolean moved = bornAs != hint.kind() && bornAs != hint.parentKind();
    return new long[] {hint.kind(), hint.parentKind(), moved ? bornAs : 0};
  }

  /**
   * A run of sequential reads of a block has ended.
   *
   * @param bornAs the block's kind when it began, which is that of the next ones like it
   * @param isFirst whether the block was not read before
   * @param outstandingBytes requested from the device when the reader waited, in the mean
   */
  synchronized void record(
      BlockHint hint, long bornAs, boolean isFirst, long bytes, long reads, long outstandingBytes) {
    long now = clockMs.getAsLong();
    for (long key : kinds(hint, bornAs)) {
      if (key != 0) {
        Kind kind = used(key, now, now);
        kind.blocks += isFirst ? 1 : 0;
        kind.mix.add(bytes, reads, outstandingBytes);
      }
    }
  }

  /** A block has died; false when its kind or its birth is not known, so nothing is learned. */
  synchronized boolean died(BlockHint hint, long bornAs) {
    if (hint.kind() == 0 || hint.bornMs() == 0) {
      return false;
    }
    long now = clockMs.getAsLong();
    for (long key : kinds(hint, bornAs)) {
      if (key != 0) {
        Kind kind = used(key, now, hint.bornMs());
        kind.deaths = Math.min(kind.deaths + 1, MEMORY);
        double ln = Math.log(Math.max(1, now - hint.bornMs()));
        kind.meanLn += (ln - kind.meanLn) / kind.deaths;
      }
    }
    return true;
  }

  private Kind used(long key, long now, long firstMs) {
    changed = true;
    Kind kind = kinds.get(key);
    if (kind == null) {
      makeRoom(now);
      kind = new Kind(firstMs, new ReadMix(now));
      kinds.put(key, kind);
    } else {
      decay(kind, now);
    }
    kind.uses++;
    return kind;
  }

  private void decay(Kind kind, long now) {
    kind.uses *= kind.mix.decay(now, halfLifeMs);
  }

  /** Those that were used least go, and of those alike the ones that came first. */
  private void makeRoom(long now) {
    if (kinds.size() < maxKinds) {
      return;
    }
    kinds.values().forEach(kind -> decay(kind, now));
    int leave = Math.max(1, maxKinds / ROOM);
    double least = kinds.values().stream().mapToDouble(k -> k.uses).sorted().toArray()[leave - 1];
    for (Iterator<Kind> each = kinds.values().iterator(); leave > 0; ) {
      if (each.next().uses <= least) {
        each.remove();
        leave--;
      }
    }
  }

  /** What is known of a kind; null when that is nothing. */
  synchronized Kind look(long key) {
    Kind kind = kinds.get(key);
    if (kind == null) {
      return null;
    }
    decay(kind, clockMs.getAsLong());
    return kind.copy();
  }

  /**
   * The reclaim unit handle of a block that begins: by the lives of its kind, or else of its
   * parent. Those of a kind of which none has died yet live at least as long as the kind is old.
   */
  synchronized int handle(BlockHint hint, int handles) {
    if (hint.kind() == 0) {
      return UNKNOWN;
    }
    long now = clockMs.getAsLong();
    Kind kind = used(hint.kind(), now, now);
    Kind parent = hint.parentKind() == 0 ? null : used(hint.parentKind(), now, now);
    if (kind.deaths > 0) {
      return classOf(kind.lifeMs(), handles);
    }
    double leastMs = now - kind.firstMs;
    if (parent != null && parent.deaths > 0) {
      return classOf(Math.max(leastMs, parent.lifeMs()), handles);
    }
    double ageMs = parent == null ? leastMs : Math.max(leastMs, now - parent.firstMs);
    return ageMs < shortestMs ? UNKNOWN : classOf(ageMs, handles);
  }

  /** The class of blocks that live so long: a handle from 1. */
  int classOf(double lifeMs, int handles) {
    double boundMs = shortestMs;
    int handle = 1;
    while (handle < handles - 1 && lifeMs >= boundMs) {
      boundMs *= STEP;
      handle++;
    }
    return handle;
  }

  synchronized int size() {
    return kinds.size();
  }

  /** Kinds of which blocks have died. */
  synchronized long mortal() {
    return kinds.values().stream().filter(kind -> kind.deaths > 0).count();
  }

  /** Whether something was learned since this was last asked. */
  synchronized boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }

  /** The next save writes the history again. */
  synchronized void keepChanged() {
    changed = true;
  }

  synchronized void clear() {
    kinds.clear();
  }

  /** Writes the kinds. {@code out} must be memory. */
  void write(DataOutput out) throws IOException {
    List<Map.Entry<Long, Kind>> entries;
    synchronized (this) {
      entries = new ArrayList<>(kinds.entrySet());
    }
    out.writeInt(entries.size());
    for (Map.Entry<Long, Kind> entry : entries) {
      Kind kind = entry.getValue();
      out.writeLong(entry.getKey());
      synchronized (this) {
        out.writeLong(kind.firstMs);
        out.writeDouble(kind.uses);
        out.writeLong(kind.blocks);
        out.writeInt(kind.deaths);
        out.writeDouble(kind.meanLn);
        kind.mix.write(out);
      }
    }
  }

  /** Adds the kinds that were written; those before a fault, which is thrown. */
  synchronized void read(DataInput in) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      long key = in.readLong();
      long firstMs = in.readLong();
      double uses = in.readDouble();
      long blocks = in.readLong();
      int deaths = in.readInt();
      double meanLn = in.readDouble();
      if (!(uses >= 0 && uses < Double.POSITIVE_INFINITY)
          || blocks < 0
          || deaths < 0
          || deaths > MEMORY
          || !Double.isFinite(meanLn)) {
        throw new IOException("a kind with " + deaths + " deletions in " + uses + " uses");
      }
      ReadMix mix = ReadMix.read(in);
      Kind kind = new Kind(firstMs, mix);
      kind.uses = uses;
      kind.blocks = blocks;
      kind.deaths = deaths;
      kind.meanLn = meanLn;
      makeRoom(clockMs.getAsLong());
      kinds.put(key, kind);
    }
  }
}
