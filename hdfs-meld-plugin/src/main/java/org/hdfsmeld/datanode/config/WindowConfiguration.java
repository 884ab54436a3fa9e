package org.hdfsmeld.datanode.config;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.nativeio.NativeIO;

/** How the device is read ahead of a reader: {@code readahead.*}; and how the DataNode does. */
public record WindowConfiguration(
    Mode mode, long readAheadBytes, long maxRequestBytes, boolean fadvise, long dataNodeBytes) {
  /** The kernel's page. */
  public static final long PAGE_BYTES = 4 << 10;

  private static final String DATANODE_KEY = "dfs.datanode.readahead.bytes";
  private static final long DATANODE_DEFAULT = 4 << 20;
  private static final long MAX_BYTES = 1 << 30;

  /** How much of a block is requested from the device ahead of its reader. */
  public enum Mode {
    /** Grows while the reader goes on sequentially, collapses when it jumps. */
    ADAPTIVE,
    /** Always the whole window. */
    FIXED,
    /** What an unmodified Linux kernel under an unmodified DataNode requests. */
    LINUX
  }

  private enum Fadvise {
    AUTO,
    TRUE,
    FALSE
  }

  static WindowConfiguration read(Configuration conf) throws MeldConfigurationException {
    Fadvise fadvise = Values.choice(conf, MeldKeys.READAHEAD_LINUX_FADVISE, Fadvise.class);
    return new WindowConfiguration(
        Values.choice(conf, MeldKeys.READAHEAD_MODE, Mode.class),
        Values.number(conf, MeldKeys.READAHEAD_LINUX_READ_AHEAD, 0, MAX_BYTES),
        Values.number(conf, MeldKeys.READAHEAD_LINUX_MAX_REQUEST, PAGE_BYTES, MAX_BYTES),
        fadvise == Fadvise.AUTO ? NativeIO.isAvailable() : fadvise == Fadvise.TRUE,
        conf.getLong(DATANODE_KEY, DATANODE_DEFAULT));
  }
}
