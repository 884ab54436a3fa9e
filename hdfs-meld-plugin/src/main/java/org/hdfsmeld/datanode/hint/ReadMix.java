package org.hdfsmeld.datanode.hint;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * How files of one kind have been read: runs of sequential reads by how much was outstanding on the
 * device, the old ones counting less and less.
 *
 * <p>Class k holds the runs with 2^k times 4 KiB outstanding in the mean, up to twice that. Not
 * thread-safe.
 */
final class ReadMix {
  /** Classes: 4 KiB to 32 MiB and above. */
  static final int CLASSES = 14;

  private static final long UNIT_BYTES = 4 << 10;

  /** Weight of the runs of each class, and of their bytes. */
  final float[] runs = new float[CLASSES];

  final float[] bytes = new float[CLASSES];
  private float reads;
  private long updatedMs;

  ReadMix(long nowMs) {
    this.updatedMs = nowMs;
  }

  ReadMix copy() {
    ReadMix copy = new ReadMix(updatedMs);
    copy.reads = reads;
    System.arraycopy(runs, 0, copy.runs, 0, CLASSES);
    System.arraycopy(bytes, 0, copy.bytes, 0, CLASSES);
    return copy;
  }

  /** The least bytes outstanding in a class. */
  static long classBytes(int k) {
    return UNIT_BYTES << k;
  }

  private static int classOf(long outstandingBytes) {
    int k = 63 - Long.numberOfLeadingZeros(Math.max(1, outstandingBytes / UNIT_BYTES));
    return Math.min(k, CLASSES - 1);
  }

  void add(long runBytes, long runReads, long outstandingBytes) {
    int k = classOf(outstandingBytes);
    runs[k]++;
    bytes[k] += runBytes;
    reads += runReads;
  }

  /** Halves what is counted in every half-life, but if the clock was set back; the share kept. */
  double decay(long nowMs, long halfLifeMs) {
    long passedMs = nowMs - updatedMs;
    updatedMs = nowMs;
    if (passedMs <= 0) {
      return 1;
    }
    float kept = (float) Math.exp(-Math.log(2) * passedMs / halfLifeMs);
    reads *= kept;
    for (int k = 0; k < CLASSES; k++) {
      runs[k] *= kept;
      bytes[k] *= kept;
    }
    return kept;
  }

  double runs() {
    return sum(runs);
  }

  double runBytes() {
    return sum(bytes) / runs();
  }

  double requestBytes() {
    return sum(bytes) / reads;
  }

  /** Outstanding bytes: the mean over the bytes read, by the least of each class. */
  double outstandingBytes() {
    double weighted = 0;
    for (int k = 0; k < CLASSES; k++) {
      weighted += bytes[k] * (double) classBytes(k);
    }
    return weighted / sum(bytes);
  }

  void write(DataOutput out) throws IOException {
    out.writeLong(updatedMs);
    out.writeFloat(reads);
    for (int k = 0; k < CLASSES; k++) {
      out.writeFloat(runs[k]);
      out.writeFloat(bytes[k]);
    }
  }

  /** What was written; throws when it cannot have been. */
  static ReadMix read(DataInput in) throws IOException {
    ReadMix mix = new ReadMix(in.readLong());
    mix.reads = weight(in);
    for (int k = 0; k < CLASSES; k++) {
      mix.runs[k] = weight(in);
      mix.bytes[k] = weight(in);
    }
    return mix;
  }

  private static float weight(DataInput in) throws IOException {
    float value = in.readFloat();
    if (!(value >= 0) || Float.isInfinite(value)) {
      throw new IOException("a weight of " + value);
    }
    return value;
  }

  private static double sum(float[] values) {
    double sum = 0;
    for (float value : values) {
      sum += value;
    }
    return sum;
  }
}
