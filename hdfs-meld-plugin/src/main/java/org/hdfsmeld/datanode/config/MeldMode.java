package org.hdfsmeld.datanode.config;

/** How the simulated device takes part in a volume's I/O. */
public enum MeldMode {
  /** Nothing is forwarded: stock HDFS. */
  OFF,
  /** I/O is forwarded and device time is counted; no caller is held back. */
  ACCOUNT,
  /** A call returns when the simulated device, slowed by the time dilation, is done. */
  REAL_TIME;

  /** The name used in configuration and over JMX. */
  public String text() {
    return Values.name(this);
  }

  /** Parses a mode's name; an {@link IllegalArgumentException} has the modes there are. */
  public static MeldMode parse(String value) {
    return Values.choice(value, MeldMode.class);
  }
}
