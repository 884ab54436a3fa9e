package org.hdfsmeld.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.apache.hadoop.thirdparty.com.google.common.hash.HashFunction;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.record.RecordRing;

/** Takes records from the ring and writes them down, in a thread of its own. */
final class TraceWriter implements Runnable {
  /** How long records wait in the ring at most when there are few. */
  private static final long IDLE_NS = 10_000_000;

  private static final int CLIENT_BITS = 8;
  private static final int PATTERN_BITS = 8;
  private static final int OP_BITS = 8;
  private static final int MASK = 0xff;

  private static final TraceOp[] OPS = TraceOp.values();
  private static final ReadPattern[] PATTERNS = ReadPattern.values();
  private static final ClientKind[] CLIENTS = ClientKind.values();

  private final RecordRing ring;
  private final RotatedOutput output;
  private final HashFunction hash;
  private final boolean inodes;
  private final IntFunction<String> volumes;
  private final long startNs;
  private final StringBuilder line = new StringBuilder();
  private final List<String> volumeNames = new ArrayList<>();

  private final AtomicLong written = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private volatile Throwable failure;

  /**
   * A writer that has written nothing.
   *
   * @param hash has a random key that lives as long as the trace and is written nowhere: between
   *     traces, and to block identifiers, there is no link
   * @param inodes whether directories are named by their inode numbers, not by hashes
   * @param volumes storage uuids by the numbers that records have
   * @param startNs what time counts from, on the clock of the records
   */
  TraceWriter(
      RecordRing ring,
      RotatedOutput output,
      HashFunction hash,
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

  static long kind(int volume, TraceOp op, ReadPattern pattern, ClientKind client) {
    return ((((long) volume << OP_BITS | op.ordinal()) << PATTERN_BITS) | pattern.ordinal())
            << CLIENT_BITS
        | client.ordinal();
  }

  static String volumeName(HashFunction hash, String storageId) {
    return String.format("%016x", hash.hashString(storageId, StandardCharsets.UTF_8).asLong());
  }

  /**
   * The name of a number of a pool in this trace: the number comes first, its lowest byte in front.
   */
  static long hash(HashFunction hash, long number, long pool) {
    return hash.newHasher(2 * Long.BYTES).putLong(number).putLong(pool).hash().asLong();
  }

  /** Until the ring is closed and empty. */
  @Override
  public void run() {
    long[] record = new long[RecordRing.WORDS];
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
    } catch (IOException | RuntimeException | Error e) {
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
    } catch (IOException | RuntimeException | Error e) {
      lost.incrementAndGet();
      failed(e);
    }
  }

  private CharSequence format(long[] record) {
    long kind = record[4];
    int client = (int) kind & MASK;
    ReadPattern pattern = PATTERNS[(int) (kind >>> CLIENT_BITS) & MASK];
    int op = (int) (kind >>> CLIENT_BITS + PATTERN_BITS) & MASK;
    int volume = (int) (kind >>> CLIENT_BITS + PATTERN_BITS + OP_BITS);
    int pool = (int) record[6];
    line.setLength(0);
    // A record may be made just before the trace's start.
    line.append(Math.max(0, record[0] - startNs)).append(',');
    line.append(volumeName(volume)).append(',');
    line.append(Long.toUnsignedString(hash(hash, record[1], pool))).append(',');
    line.append(Long.toUnsignedString(record[2])).append(',');
    line.append(record[3]).append(',');
    line.append(OPS[op].text).append(',');
    line.append(name(pattern)).append(',');
    line.append(CLIENTS[client].text()).append(',');
    return line.append(Long.toUnsignedString(directory(record[5], pool))).append('\n');
  }

  private static String name(ReadPattern pattern) {
    return switch (pattern) {
      case SEQUENTIAL, RANDOM -> pattern.text();
      case NONE, AUTO, UNKNOWN -> ReadPattern.NONE.text();
    };
  }

  /** The name of a directory in this trace; 0 stays the one that is not known. */
  private long directory(long inode, int pool) {
    return inode == 0 || inodes ? inode : hash(hash, inode, pool);
  }

  private String volumeName(int volume) {
    while (volumeNames.size() <= volume) {
      volumeNames.add(volumeName(hash, volumes.apply(volumeNames.size())));
    }
    return volumeNames.get(volume);
  }

  private void failed(Throwable e) {
    failure = e;
    ring.close();
  }

  long written() {
    return written.get();
  }

  /** Records that came out of the ring after writing had failed. */
  long lost() {
    return lost.get();
  }

  /** Why writing ended before its time; null when it did not. */
  Throwable failure() {
    return failure;
  }
}
