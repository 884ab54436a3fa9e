package org.hdfsmeld.datanode.config;

import org.apache.hadoop.conf.Configuration;

/**
 * How the device is read ahead of a block's reader.
 *
 * @param mode who decides how far
 * @param linux the machine of mode {@code linux}
 */
public record WindowConfiguration(WindowMode mode, LinuxConfiguration linux) {

  static WindowConfiguration read(Configuration conf) throws MeldConfigurationException {
    return new WindowConfiguration(
        Values.choice(conf, MeldKeys.READAHEAD_MODE, WindowMode.class),
        LinuxConfiguration.read(conf));
  }
}
