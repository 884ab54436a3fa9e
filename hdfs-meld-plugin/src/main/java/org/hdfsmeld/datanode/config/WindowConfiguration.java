package org.hdfsmeld.datanode.config;

import org.apache.hadoop.conf.Configuration;

/**
 * How the device is read ahead of a block's reader.
 *
 * @param mode who decides how far
 * @param linux the machine of mode {@code linux}
 */
public record WindowConfiguration(Mode mode, LinuxConfiguration linux) {
  /** How much of a block is requested from the device ahead of its reader. */
  public enum Mode {
    /** Grows while the reader goes on sequentially, collapses when it jumps. */
    ADAPTIVE,
    /** Always the whole window. */
    FIXED,
    /** What an unmodified Linux kernel under an unmodified DataNode requests. */
    LINUX
  }

  static WindowConfiguration read(Configuration conf) throws MeldConfigurationException {
    return new WindowConfiguration(
        Values.choice(conf, MeldKeys.READAHEAD_MODE, Mode.class), LinuxConfiguration.read(conf));
  }
}
