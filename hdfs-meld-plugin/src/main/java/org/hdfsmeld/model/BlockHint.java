package org.hdfsmeld.model;

/**
 * What the NameNode knows of a block.
 *
 * @param pattern how it will be read, as its file or the nearest ancestor with the attribute says
 * @param expectedBytes the largest it is expected to become, or 0 when that is not known
 * @param kind key of the {@link PathKind} of its file, or 0 when that is not known
 * @param parentKind what counts where nothing is known of the kind; 0 when that is not known
 * @param level who has the attribute: 0 the file, 1 its directory, 2 that one's, and so on; {@link
 *     #NOBODY} when nobody has. With {@link ReadPattern#UNKNOWN} the attribute's value is invalid
 * @param directoryId inode of the file's directory, or 0 when that is not known
 * @param bornMs when the block began, by the wall clock; of the NameNode, when its file was changed
 *     last; 0 when that is not known
 */
public record BlockHint(
    ReadPattern pattern,
    long expectedBytes,
    long kind,
    long parentKind,
    int level,
    long directoryId,
    long bornMs) {
  /** The level of an attribute that nobody has. */
  public static final int NOBODY = -1;

  public static final BlockHint NONE = new BlockHint(ReadPattern.UNKNOWN, 0, 0, 0, NOBODY);

  public BlockHint(ReadPattern pattern, long expectedBytes, long kind, long parentKind, int level) {
    this(pattern, expectedBytes, kind, parentKind, level, 0, 0);
  }

  /** The same of a block that began then. */
  public BlockHint bornAt(long ms) {
    return new BlockHint(pattern, expectedBytes, kind, parentKind, level, directoryId, ms);
  }

  /** Whether a NameNode has answered. */
  public boolean isKnown() {
    return kind != 0;
  }

  /** Whether somebody has the attribute with a value that names no pattern. */
  public boolean isInvalid() {
    return pattern == ReadPattern.UNKNOWN && level != NOBODY;
  }
}
