package org.hdfsmeld.trace;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Takes records from the ring and writes them down, in a thread of its own. */
final class TraceWriter implements Runnable {
  /** How long records wait in the ring at most when there are few. */
  private static final long IDLE_NS = 10_000_000;

  private static final int CLIENT_BITS = 8;
  private static final int PATTERN_BITS = 8;
  private static final int OP_BITS = 8;
  private static final int MASK = 0xff;

  private static final List<byte[]> OPS =
      Stream.of(TraceOp.values()).map(op -> TraceLine.ascii(op.text)).toList();

  /** By the simulator's numbers. */
  private static final List<byte[]> PATTERNS =
      Stream.of("none", "sequential", "random").map(TraceLine::ascii).toList();

  private static final List<byte[]> CLIENTS =
      Stream.of(ClientKind.values()).map(client -> TraceLine.ascii(client.text)).toList();

  private final TraceRing ring;
  private final RotatedOutput output;
  private final KeyedHash hash;
  private final boolean inodes;
  private final IntFunction<String> volumes;
  private final long startNs;
  private final TraceLine line = new TraceLine();
  private byte[][] volumeNames = {};

  private final AtomicLong written = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private volatile IOException failure;

  /**
   * A writer that has written nothing.
   *
   * @param inodes whether directories are named by their inode numbers, not by hashes
   * @param volumes storage uuids by the numbers that records have
   * @param startNs what time counts from, on the clock of the records
   */
  TraceWriter(
      TraceRing ring,
      RotatedOutput output,
      KeyedHash hash,
      boolean inodes,
      IntFunction<String> volumes,
      long startNs) {
    this.ring = ring;
    this.output = output;
    this.hash = hash;
    this.inodes = inodes;
    this.volumes = volumes;
    this.startNs = startNs;
  }

  /** What the record is about, in one word. */
  static long kind(int volume, TraceOp op, int pattern, ClientKind client) {
    return ((((long) volume << OP_BITS | op.ordinal()) << PATTERN_BITS) | pattern) << CLIENT_BITS
        | client.ordinal();
  }

  /** Pool and length in one word. */
  static long poolAndLength(int pool, int length) {
    return (long) pool << 32 | length;
  }

  /** The name of a volume in this trace. */
  static String volumeName(KeyedHash hash, String storageId) {
    return String.format("%016x", hash.of(storageId));
  }

  /** Until the ring is closed and empty. */
  @Override
  public void run() {
    long[] record = new long[TraceRing.RECORD_WORDS];
    while (true) {
      if (ring.poll(record)) {
        write(record);
      } else if (ring.isDrained()) {
        break;
      } else {
        LockSupport.parkNanos(IDLE_NS);
      }
    }
    try {
      output.close();
    } catch (IOException e) {
      failed(e);
    }
  }

  private void write(long[] record) {
    if (failure != null) {
      lost.incrementAndGet();
      return;
    }
    try {
      output.write(format(record));
      written.incrementAndGet();
    } catch (IOException e) {
      lost.incrementAndGet();
      failed(e);
    }
  }

  private TraceLine format(long[] record) {
    long kind = record[4];
    int client = (int) kind & MASK;
    int pattern = (int) (kind >>> CLIENT_BITS) & MASK;
    int op = (int) (kind >>> CLIENT_BITS + PATTERN_BITS) & MASK;
    int volume = (int) (kind >>> CLIENT_BITS + PATTERN_BITS + OP_BITS);
    return line.clear()
        // A record may be made just before the trace's start.
        .number(Math.max(0, record[0] - startNs))
        .character(',')
        .text(volumeName(volume))
        .character(',')
        .number(hash.of(record[1], record[3] >> 32))
        .character(',')
        .number(record[2])
        .character(',')
        .number(record[3] & 0xffff_ffffL)
        .character(',')
        .text(OPS.get(op))
        .character(',')
        .text(PATTERNS.get(pattern))
        .character(',')
        .text(CLIENTS.get(client))
        .character(',')
        .number(directory(record[5], (int) (record[3] >> 32)))
        .character('\n');
  }

  /** The name of a directory in this trace; 0 stays the one that is not known. */
  private long directory(long inode, int pool) {
    return inode == 0 || inodes ? inode : hash.of(inode, pool);
  }

  private byte[] volumeName(int volume) {
    if (volume >= volumeNames.length) {
      int known = volumeNames.length;
      volumeNames = Arrays.copyOf(volumeNames, volume + 1);
      for (int i = known; i <= volume; i++) {
        volumeNames[i] = TraceLine.ascii(volumeName(hash, volumes.apply(i)));
      }
    }
    return volumeNames[volume];
  }

  private void failed(IOException e) {
    failure = e;
    ring.close();
  }

  /** Records in the files. */
  long written() {
    return written.get();
  }

  /** Records that came out of the ring after writing had failed. */
  long lost() {
    return lost.get();
  }

  /** Why writing ended before its time; null when it did not. */
  IOException failure() {
    return failure;
  }
}
