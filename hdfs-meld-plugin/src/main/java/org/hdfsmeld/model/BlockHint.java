package org.hdfsmeld.model;

/**
 * What the NameNode knows of a block before its first byte is written.
 *
 * @param pattern how it will be read, as its file or the nearest ancestor with the attribute says
 * @param expectedBytes the largest it is expected to become, or 0 when that is not known
 * @param fileId inode of its file, or 0 when that is not known
 * @param directoryId inode of the file's directory, or 0 when that is not known
 * @param level who has the attribute: 0 the file, 1 its directory, 2 that one's, and so on; {@link
 *     #NOBODY} when nobody has. With {@link ReadPattern#UNKNOWN} the attribute's value is invalid
 * @param lifetimeGroup names the files that are taken to live as long as this one; 0 when that is
 *     not known
 */
public record BlockHint(
    ReadPattern pattern,
    long expectedBytes,
    long fileId,
    long directoryId,
    int level,
    long lifetimeGroup) {
  /** The level of an attribute that nobody has. */
  public static final int NOBODY = -1;

  public static final BlockHint NONE = new BlockHint(ReadPattern.UNKNOWN, 0, 0, 0, NOBODY);

  public BlockHint(
      ReadPattern pattern, long expectedBytes, long fileId, long directoryId, int level) {
    this(pattern, expectedBytes, fileId, directoryId, level, 0);
  }

  public BlockHint ofGroup(long group) {
    return new BlockHint(pattern, expectedBytes, fileId, directoryId, level, group);
  }

  /** Whether a NameNode has answered. */
  public boolean isKnown() {
    return fileId != 0;
  }

  /** Whether somebody has the attribute with a value that names no pattern. */
  public boolean isInvalid() {
    return pattern == ReadPattern.UNKNOWN && level != NOBODY;
  }
}
