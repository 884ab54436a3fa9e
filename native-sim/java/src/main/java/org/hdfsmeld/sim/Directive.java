package org.hdfsmeld.sim;

/** Directives of a write, packed as the simulator takes them ({@code DTYPE << 16 | DSPEC}). */
public final class Directive {
  /** Nothing is known about how the data will be read. */
  public static final int NONE = 0;

  private static final int PLACEMENT_TYPE = 0x02;
  private static final int READ_PATTERN_TYPE = 0x0F;
  private static final int SEQUENTIAL = 1;
  private static final long SIZE_UNIT_BYTES = 64 << 10;
  private static final int MAX_LOG2_SIZE = 15;

  private Directive() {}

  /**
   * The data will be read sequentially.
   *
   * @param expectedReadBytes how much a reader asks for at a time; sent as log2 of 64 KiB units,
   *     rounded down
   */
  public static int sequential(long expectedReadBytes) {
    long units = Math.max(1, expectedReadBytes / SIZE_UNIT_BYTES);
    int log2 = Math.min(MAX_LOG2_SIZE, 63 - Long.numberOfLeadingZeros(units));
    return READ_PATTERN_TYPE << 16 | log2 << 4 | SEQUENTIAL;
  }

  /**
   * The data belongs to a reclaim unit handle: it is kept together, and apart from that of others.
   *
   * @param pid the placement identifier, from 0; one that the device does not have stands for 0
   */
  public static int placement(int pid) {
    return PLACEMENT_TYPE << 16 | pid;
  }
}
