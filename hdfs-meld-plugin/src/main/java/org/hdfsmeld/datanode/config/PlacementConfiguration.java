package org.hdfsmeld.datanode.config;

import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;

/** How the placement policy divides new blocks between kinds of devices: {@code placement.*}. */
public record PlacementConfiguration(
    Set<String> optaneProfiles, long smallBytes, long maxOutstandingBytes, long reservedBytes) {

  static PlacementConfiguration read(Configuration conf) throws MeldConfigurationException {
    String profiles = Values.text(conf, MeldKeys.PLACEMENT_OPTANE_PROFILES);
    return new PlacementConfiguration(
        Set.copyOf(StringUtils.getTrimmedStringCollection(profiles)),
        Values.number(conf, MeldKeys.PLACEMENT_SMALL_BYTES, 0, Long.MAX_VALUE),
        Values.number(conf, MeldKeys.PLACEMENT_OPTANE_MAX_OUTSTANDING, 0, Long.MAX_VALUE),
        Values.number(conf, MeldKeys.PLACEMENT_OPTANE_RESERVED, 0, Long.MAX_VALUE));
  }
}
