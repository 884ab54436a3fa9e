package org.hdfsmeld.trace;

import java.nio.charset.StandardCharsets;

/** One line of text in bytes, made without allocating anything. */
final class TraceLine {
  /** More than the longest record: seven numbers of 20 digits, and names. */
  private static final int BYTES = 256;

  private static final int LONG_DIGITS = 20;

  final byte[] bytes = new byte[BYTES];
  int length;

  TraceLine clear() {
    length = 0;
    return this;
  }

  /** Adds text; ASCII. */
  TraceLine text(byte[] text) {
    System.arraycopy(text, 0, bytes, length, text.length);
    length += text.length;
    return this;
  }

  TraceLine character(char c) {
    bytes[length++] = (byte) c;
    return this;
  }

  /** Adds a number as unsigned. */
  TraceLine number(long value) {
    int end = length + LONG_DIGITS;
    int at = end;
    long rest = value;
    do {
      long quotient = Long.divideUnsigned(rest, 10);
      bytes[--at] = (byte) ('0' + (rest - quotient * 10));
      rest = quotient;
    } while (rest != 0);
    System.arraycopy(bytes, at, bytes, length, end - at);
    length += end - at;
    return this;
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
