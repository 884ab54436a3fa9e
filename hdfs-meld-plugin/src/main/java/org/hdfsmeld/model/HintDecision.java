package org.hdfsmeld.model;

/** How a block will be read, and why; {@link ReadPattern#AUTO} leaves it to its size. */
public record HintDecision(ReadPattern pattern, Source source, String reason) {
  /** Who decides how a block will be read. */
  public enum Source implements PersistentEnum {
    /** An extended attribute. */
    EXPLICIT,
    /** How the file, or its directory, was read before. */
    HISTORY,
    FULL_BLOCK,
    /** Nobody: the block is written without a directive. */
    NONE
  }

  /** The block's size decides. */
  public static final HintDecision BY_SIZE =
      new HintDecision(ReadPattern.AUTO, Source.NONE, "no read pattern: its size decides");

  /** What a hint decides alone: by size where it is unknown, {@code auto} or invalid. */
  public static HintDecision of(BlockHint hint) {
    return switch (hint.pattern()) {
      case SEQUENTIAL, RANDOM, NONE ->
          new HintDecision(hint.pattern(), Source.EXPLICIT, attribute(hint.level()));
      case AUTO, UNKNOWN ->
          hint.isInvalid()
              ? new HintDecision(
                  ReadPattern.AUTO,
                  Source.NONE,
                  attribute(hint.level()) + " has an invalid value: size decides")
              : BY_SIZE;
    };
  }

  /** Names the attribute of a file, of its directory, or of an ancestor above that. */
  public static String attribute(int level) {
    return ReadPattern.XATTR
        + switch (level) {
          case 0 -> " of the file";
          case 1 -> " of its directory";
          default -> " of the directory " + level + " levels up";
        };
  }
}
