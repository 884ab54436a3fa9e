package org.hdfsmeld.datanode.hint;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;

/**
 * How long the blocks of a volume live, learned from those that were deleted: the group of a
 * block's file tells which reclaim unit handle it goes to, so that data lies together that dies
 * together.
 *
 * <p>Bounded, about {@value #ENTRY_BYTES} bytes for each group; the one that was used longest ago
 * goes. {@code meldsim experiment hdfs-lifetimes} has the same rules.
 */
public final class Lifetimes {
  /** Heap of an entry: the map's node, the key, three numbers. */
  static final int ENTRY_BYTES = 120;

  /** Handle 0 is of blocks whose lifetime nobody knows. */
  static final int UNKNOWN = 0;

  /** The upper bound of a class is so many times as high as that of the one before. */
  private static final int STEP = 4;

  /** Deletions over which a group's mean goes. */
  private static final int MEMORY = 32;

  private static final class Group {
    final long firstMs;

    /** Deletions, at most {@link #MEMORY}. */
    int count;

    /** Mean of the logarithms of lives in milliseconds. */
    double meanLn;

    Group(long firstMs) {
      this.firstMs = firstMs;
    }
  }

  private final Map<Long, Group> groups;
  private final long shortestMs;
  private boolean changed;

  /**
   * Of nothing yet.
   *
   * @param shortestMs the upper bound of the first class
   */
  Lifetimes(int maxGroups, long shortestMs) {
    this.groups = new LeastRecentlyUsed<>(maxGroups);
    this.shortestMs = shortestMs;
  }

  /** A block of this group has ended, which began at {@code bornMs}; false when one is unknown. */
  synchronized boolean ended(long group, long bornMs, long nowMs) {
    if (group == 0 || bornMs == 0) {
      return false;
    }
    Group known = groups.computeIfAbsent(group, id -> new Group(bornMs));
    changed = true;
    known.count = Math.min(known.count + 1, MEMORY);
    known.meanLn += (Math.log(Math.max(1, nowMs - bornMs)) - known.meanLn) / known.count;
    return true;
  }

  /**
   * The handle of a block that begins. Where none of its group has ended yet, they live at least as
   * long as the group is old.
   *
   * @param handles of the device
   */
  synchronized int handle(long group, int handles, long nowMs) {
    if (group == 0) {
      return UNKNOWN;
    }
    Group known = groups.computeIfAbsent(group, id -> new Group(nowMs));
    double lifeMs = known.count > 0 ? Math.exp(known.meanLn) : nowMs - known.firstMs;
    return known.count == 0 && lifeMs < shortestMs ? UNKNOWN : classOf(lifeMs, handles);
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
    return groups.size();
  }

  /** Whether something was learned since this was last asked. */
  synchronized boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }

  synchronized void clear() {
    groups.clear();
  }

  /** Writes the groups, the one used longest ago first. {@code out} must be memory. */
  synchronized void write(DataOutput out) throws IOException {
    out.writeInt(groups.size());
    for (Map.Entry<Long, Group> entry : groups.entrySet()) {
      out.writeLong(entry.getKey());
      out.writeLong(entry.getValue().firstMs);
      out.writeInt(entry.getValue().count);
      out.writeDouble(entry.getValue().meanLn);
    }
  }

  /**
   * Adds the groups that were written.
   *
   * @throws IOException when they cannot have been
   */
  synchronized void read(DataInput in) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      long id = in.readLong();
      Group group = new Group(in.readLong());
      group.count = in.readInt();
      group.meanLn = in.readDouble();
      if (group.count < 0 || group.count > MEMORY || !Double.isFinite(group.meanLn)) {
        throw new IOException("a group with " + group.count + " deletions");
      }
      groups.put(id, group);
    }
  }
}
