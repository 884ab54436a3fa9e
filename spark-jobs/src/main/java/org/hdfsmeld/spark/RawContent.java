package org.hdfsmeld.spark;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The content of one raw file: 64-bit words, little-endian, of SplitMix64 (Steele, Lea, Flood:
 * OOPSLA 2014), which has the n-th word without those before it. So any range can be checked
 * without the original by whoever knows the file's name.
 *
 * @param seed of the data set
 * @param number of the file in the data set, from zero
 */
record RawContent(long seed, int number) {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final Pattern NAME = Pattern.compile("raw-(\\d{1,9})-seed-(-?\\d{1,19})");
  private static final long GAMMA = 0x9e3779b97f4a7c15L;

  /** The content of a file of this name; null if no raw file has such a name. */
  static RawContent ofName(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) {
      return null;
    }
    return new RawContent(Long.parseLong(matcher.group(2)), Integer.parseInt(matcher.group(1)));
  }

  String fileName() {
    return String.format("raw-%05d-seed-%d", number, seed);
  }

  /** Writes the bytes from an offset in the file on to the front of a buffer. */
  void fill(long offset, byte[] buffer, int length) {
    long key = key();
    int at = 0;
    for (; at < length && (offset + at) % Long.BYTES != 0; at++) {
      buffer[at] = octet(key, offset + at);
    }
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      WORD.set(buffer, at, word(key, (offset + at) / Long.BYTES));
    }
    for (; at < length; at++) {
      buffer[at] = octet(key, offset + at);
    }
  }

  /** The index of the first byte in the buffer that is not the file's; -1: all are. */
  int mismatch(long offset, byte[] buffer, int length) {
    long key = key();
    int at = 0;
    while (at < length) {
      long position = offset + at;
      if (position % Long.BYTES == 0 && at + Long.BYTES <= length) {
        if ((long) WORD.get(buffer, at) == word(key, position / Long.BYTES)) {
          at += Long.BYTES;
          continue;
        }
      }
      if (buffer[at] != octet(key, position)) {
        return at;
      }
      at++;
    }
    return -1;
  }

  private long key() {
    return mix(seed + mix(number + GAMMA));
  }

  private static byte octet(long key, long position) {
    return (byte) (word(key, position / Long.BYTES) >>> (position % Long.BYTES * Byte.SIZE));
  }

  private static long word(long key, long index) {
    return mix(key + (index + 1) * GAMMA);
  }

  /** The output function of SplitMix64. */
  static long mix(long state) {
    long z = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
