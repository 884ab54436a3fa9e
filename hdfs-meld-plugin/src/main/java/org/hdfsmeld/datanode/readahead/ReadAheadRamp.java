package org.hdfsmeld.datanode.readahead;

/**
 * How a read-ahead window grows: as in Linux ({@code mm/readahead.c}), whose functions these are
 * named after. The unit is the caller's.
 */
final class ReadAheadRamp {
  private ReadAheadRamp() {}

  /** {@code get_init_ra_size}: the first window of a reader that asks for {@code size}. */
  static long initialSize(long size, long max) {
    long rounded = size <= 1 ? 1 : Long.highestOneBit(size - 1) << 1;
    if (rounded <= max / 32) {
      return rounded * 4;
    }
    return rounded <= max / 4 ? rounded * 2 : max;
  }

  /** {@code get_next_ra_size}: the window after one of {@code size}. */
  static long nextSize(long size, long max) {
    if (size < max / 16) {
      return size * 4;
    }
    return size <= max / 2 ? size * 2 : max;
  }
}
