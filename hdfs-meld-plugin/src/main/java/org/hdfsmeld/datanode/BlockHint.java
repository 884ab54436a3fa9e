package org.hdfsmeld.datanode;

/**
 * What is known of a block before its first byte is written.
 *
 * @param pattern how it will be read
 * @param expectedBytes the largest it is expected to become, or 0 when that is not known
 */
public record BlockHint(ReadPattern pattern, long expectedBytes) {
  /** Nothing is known. */
  public static final BlockHint NONE = new BlockHint(ReadPattern.UNKNOWN, 0);
}
