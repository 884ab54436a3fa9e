package org.hdfsmeld.datanode.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Which sinks get the directives of a DataNode's blocks. */
public enum SinkChoice {
  /** The simulated device. */
  SIMULATOR,
  /** Linux, as the write-lifetime hint of the block's file. */
  WRITE_LIFETIME,
  /** The two. */
  BOTH,
  /** Neither. */
  NONE;

  /** Whether this one of the two is among them. */
  public boolean has(SinkChoice sink) {
    return this == sink || this == BOTH;
  }

  /** The name in the configuration. */
  String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The choice of that name, or null. */
  static SinkChoice parse(String text) {
    return Arrays.stream(values())
        .filter(choice -> choice.text().equalsIgnoreCase(text))
        .findFirst()
        .orElse(null);
  }

  static String names() {
    return Arrays.stream(values()).map(SinkChoice::text).collect(Collectors.joining(", "));
  }
}
