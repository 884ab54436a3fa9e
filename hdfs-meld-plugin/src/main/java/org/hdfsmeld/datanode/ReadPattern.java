package org.hdfsmeld.datanode;

import java.util.Locale;

/** How a block will be read, as its writer says. */
public enum ReadPattern {
  /** Front to back, in large pieces. */
  SEQUENTIAL,
  /** In small pieces, anywhere. */
  RANDOM,
  /** Not said. */
  UNKNOWN;

  /** The extended attribute of a file or directory; the nearest ancestor's counts. */
  public static final String XATTR = "user.meld.read-pattern";

  /** The pattern of that name, in any case; {@link #UNKNOWN} for all other text. */
  public static ReadPattern parse(String text) {
    return switch (text.trim().toLowerCase(Locale.ROOT)) {
      case "sequential" -> SEQUENTIAL;
      case "random" -> RANDOM;
      default -> UNKNOWN;
    };
  }
}
