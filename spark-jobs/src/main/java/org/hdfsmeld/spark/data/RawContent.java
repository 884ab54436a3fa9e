package org.hdfsmeld.spark.data;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/**
 * The content of one raw file: 64-bit words, little-endian, of {@link SplitMix64}. So any range can
 * be checked without the original by whoever knows the file's name.
 *
 * @param seed of the data set
 * @param number of the file in the data set, from zero
 */
public record RawContent(long seed, int number) {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final Pattern NAME = Pattern.compile("raw-(\\d{1,9})-seed-(-?\\d{1,19})");

  /** The content of a file of this name; null if no raw file has such a name. */
  static RawContent ofName(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) {
      return null;
    }
    return new RawContent(Long.parseLong(matcher.group(2)), Integer.parseInt(matcher.group(1)));
  }

  /**
   * The content that a file must have, by its name.
   *
   * @throws FileNotFoundException if no raw file has such a name
   */
  public static RawContent of(Path path) throws FileNotFoundException {
    RawContent content = ofName(path.getName());
    if (content == null) {
      throw new FileNotFoundException(
          path + ": is not named as generate --format raw names its files; leave out --verify");
    }
    return content;
  }

  /** The name of the file in its directory. */
  public String fileName() {
    return String.format("raw-%05d-seed-%d", number, seed);
  }

  /** Writes the bytes from an offset in the file on to the front of a buffer. */
  public void fill(long offset, byte[] buffer, int length) {
    long key = key();
    int at = 0;
    for (; at < length && (offset + at) % Long.BYTES != 0; at++) {
      buffer[at] = octet(key, offset + at);
    }
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      WORD.set(buffer, at, SplitMix64.word(key, (offset + at) / Long.BYTES));
    }
    for (; at < length; at++) {
      buffer[at] = octet(key, offset + at);
    }
  }

  /**
   * Holds bytes against those of the file from this offset on.
   *
   * @throws IOException if one differs: names the path and the first such byte's offset
   */
  public void check(Path path, long offset, byte[] buffer, int length) throws IOException {
    int mismatch = mismatch(offset, buffer, length);
    if (mismatch >= 0) {
      throw new IOException(
          path + ": wrong byte at offset " + (offset + mismatch) + ": not what was generated");
    }
  }

  /** The index of the first byte in the buffer that is not the file's; -1: all are. */
  int mismatch(long offset, byte[] buffer, int length) {
    long key = key();
    int at = 0;
    while (at < length) {
      long position = offset + at;
      if (position % Long.BYTES == 0 && at + Long.BYTES <= length) {
        if ((long) WORD.get(buffer, at) == SplitMix64.word(key, position / Long.BYTES)) {
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
    return SplitMix64.mix(seed + SplitMix64.word(number, 0));
  }

  private static byte octet(long key, long position) {
    return (byte)
        (SplitMix64.word(key, position / Long.BYTES) >>> (position % Long.BYTES * Byte.SIZE));
  }
}
