package org.hdfsmeld.datanode.config;

import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;

/**
 * How the placement policy divides new blocks between kinds of devices.
 *
 * @param optaneProfiles profiles of the devices that are treated as Optane
 * @param smallBytes bytes up to which a block without a hint counts as small
 * @param maxOutstandingBytes bytes outstanding on an Optane device past which blocks go elsewhere
 * @param reservedBytes bytes of an Optane volume that only random-read and small blocks may take
 */
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
