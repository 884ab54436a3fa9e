package org.hdfsmeld.datanode.config;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/** How hints are asked for: {@code hint.*}. A timeout of 0 asks nobody. */
public record HintConfiguration(long timeoutNs, int cacheBlocks) {
  private static final int MAX_CACHE_BLOCKS = 1 << 24;

  static HintConfiguration read(Configuration conf) throws MeldConfigurationException {
    boolean old =
        conf.get(MeldKeys.HINT_TIMEOUT) == null
            && conf.get(MeldKeys.PLACEMENT_HINT_TIMEOUT) != null;
    String timeout = old ? MeldKeys.PLACEMENT_HINT_TIMEOUT : MeldKeys.HINT_TIMEOUT;
    return new HintConfiguration(
        Values.duration(conf, timeout, TimeUnit.NANOSECONDS, 0),
        (int) Values.number(conf, MeldKeys.HINT_CACHE_BLOCKS, 1, MAX_CACHE_BLOCKS));
  }
}
