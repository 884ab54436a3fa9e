package org.hdfsmeld.model;

import java.util.Optional;
import java.util.stream.Stream;

/** How a block will be read: the {@link #text} of all but one is a value of {@link #XATTR}. */
public enum ReadPattern implements PersistentEnum {
  /** Front to back, in large pieces: the device melds its pages. */
  SEQUENTIAL,
  /** In small pieces, anywhere: the pages stay apart. */
  RANDOM,
  /** No hint is wanted: the pages stay apart. */
  NONE,
  /** The DataNode shall find out; ends what would be inherited otherwise. */
  AUTO,
  /** Nothing was said: treated as {@link #AUTO}. */
  UNKNOWN;

  /** The extended attribute of a file or directory; the nearest ancestor's counts. */
  public static final String XATTR = "user.meld.read-pattern";

  /** The pattern that a value of the attribute names, in any case; empty when it names none. */
  public static Optional<ReadPattern> parse(String text) {
    return Stream.of(SEQUENTIAL, RANDOM, NONE, AUTO)
        .filter(pattern -> pattern.name().equalsIgnoreCase(text.trim()))
        .findFirst();
  }
}
