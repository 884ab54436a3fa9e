package org.hdfsmeld.demo.layout;

import java.nio.file.Path;
import java.util.OptionalDouble;

/**
 * What the user chose.
 *
 * @param scale TPC-H scale factor
 * @param files files of lineitem; orders has a third as many
 * @param dilation wall seconds a simulated second takes; empty: calibrate
 * @param slowdown calibrating, how many times slower than a reader of the host a device shall be
 * @param rounds how often both layouts are scanned slowed down
 * @param window bytes a reader keeps outstanding on the device
 * @param windowMode who decides how far a reader is read ahead
 * @param directive whether the melded data set is written with the directive
 * @param report the HTML report to write
 * @param json the JSON result to write, or null
 * @param timeline the timeline of the paced scans to write, or null
 * @param workDirectory parent of the temporary directory
 * @param keep whether the temporary directory stays
 */
public record Settings(
    double scale,
    int files,
    long blockSize,
    OptionalDouble dilation,
    double slowdown,
    int rounds,
    long window,
    WindowMode windowMode,
    String profile,
    boolean directive,
    Path report,
    Path json,
    Path timeline,
    Path workDirectory,
    boolean keep) {
  /** As of {@code dfs.datanode.meld.readahead.mode}. */
  public enum WindowMode {
    ADAPTIVE,
    FIXED,
    LINUX
  }

  static final int DATA_NODES = 3;
  static final int READERS = 2;

  /** How often both layouts are scanned at the devices' own speed. */
  static final int UNDILATED_ROUNDS = 3;

  /** The time allowed for both paced scans together. */
  static final double PACED_SCANS_SECONDS = 100;

  // Of lineitem and orders as text; a little more than dbgen writes.
  private static final long TEXT_BYTES_PER_SCALE = 940_000_000L;

  int ordersFiles() {
    return Math.max(1, files / 3);
  }

  /** About the bytes of one of the two data sets. */
  long estimatedBytes() {
    return (long) (scale * TEXT_BYTES_PER_SCALE);
  }

  /** Two data sets on three devices, not quite evenly. */
  public long neededBytesPerDevice() {
    return 2 * estimatedBytes() / DATA_NODES / 100 * 110;
  }

  /** Two data sets, block checksums, logs, and room to breathe. */
  public long neededBytes() {
    return 2 * estimatedBytes() / 100 * 105 + (256L << 20);
  }
}
