package org.hdfsmeld.model;

import java.util.Locale;

/**
 * How the device shall take a block to be read, and why.
 *
 * @param pattern what decides the directive of the block's device writes; {@link ReadPattern#AUTO}
 *     leaves it to the block's size
 * @param source who decided
 * @param reason one line for a person
 */
public record HintDecision(ReadPattern pattern, Source source, String reason) {
  /** Who decides how a block will be read. */
  public enum Source implements Coded {
    /** An extended attribute. */
    EXPLICIT(0),
    /** How the file, or its directory, was read before. */
    HISTORY(1),
    /** The rule that full-size blocks are read sequentially. */
    FULL_BLOCK(2),
    /** Nobody: the block is written without a directive. */
    NONE(3);

    private final int code;

    Source(int code) {
      this.code = code;
    }

    @Override
    public int code() {
      return code;
    }

    /** The name of its counter: how many blocks were laid out on its word. */
    public String counter() {
      return "hints_" + text();
    }

    /** The name in lower case. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The block's size decides. */
  public static final HintDecision BY_SIZE =
      new HintDecision(ReadPattern.AUTO, Source.NONE, "no read pattern: its size decides");

  /** What the attribute says, which must be other than {@code auto}. */
  public static HintDecision explicit(BlockHint hint) {
    return new HintDecision(
        hint.pattern(), Source.EXPLICIT, ReadPattern.XATTR + " of " + bearer(hint.level()));
  }

  /** {@link #BY_SIZE}, for an attribute whose value is invalid. */
  public static HintDecision invalid(BlockHint hint) {
    return new HintDecision(
        ReadPattern.AUTO,
        Source.NONE,
        ReadPattern.XATTR + " of " + bearer(hint.level()) + " has an invalid value: size decides");
  }

  private static String bearer(int level) {
    return switch (level) {
      case 0 -> "the file";
      case 1 -> "its directory";
      default -> "the directory " + level + " levels up";
    };
  }
}
