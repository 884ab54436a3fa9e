package org.hdfsmeld.datanode.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How the simulated device takes part in a volume's I/O. */
public enum MeldMode {
  /** Nothing is forwarded: stock HDFS. */
  OFF("off"),
  /** I/O is forwarded and device time is counted; no caller is held back. */
  ACCOUNT("account"),
  /** A call returns when the simulated device, slowed by the time dilation, is done. */
  REAL_TIME("real-time");

  private final String text;

  MeldMode(String text) {
    this.text = text;
  }

  /** The name used in configuration and over JMX. */
  public String text() {
    return text;
  }

  /**
   * Parses a mode's name.
   *
   * @throws IllegalArgumentException naming the value and the modes there are
   */
  public static MeldMode parse(String value) {
    String wanted = value.trim().toLowerCase(Locale.ROOT);
    for (MeldMode mode : values()) {
      if (mode.text.equals(wanted)) {
        return mode;
      }
    }
    throw new IllegalArgumentException(
        "unknown mode '"
            + value
            + "'; use one of "
            + Arrays.stream(values()).map(MeldMode::text).collect(Collectors.joining(", ")));
  }
}
