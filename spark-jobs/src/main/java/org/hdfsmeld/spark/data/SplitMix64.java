package org.hdfsmeld.spark.data;

/**
 * SplitMix64 (Steele, Lea, Flood: OOPSLA 2014), whose n-th word can be had without those before it.
 */
public final class SplitMix64 {
  private static final long GAMMA = 0x9e3779b97f4a7c15L;

  private SplitMix64() {}

  /** The word of a stream at an index from zero. */
  public static long word(long key, long index) {
    return mix(key + (index + 1) * GAMMA);
  }

  /** The output function: near numbers become numbers far apart. */
  public static long mix(long state) {
    long z = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
