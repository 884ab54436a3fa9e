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
    String value = conf.getTrimmed(MeldKeys.READAHEAD_MODE, MeldKeys.READAHEAD_MODE_DEFAULT);
    try {
      return new WindowConfiguration(WindowMode.parse(value), LinuxConfiguration.read(conf));
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(MeldKeys.READAHEAD_MODE, value, e.getMessage());
    }
  }
}
