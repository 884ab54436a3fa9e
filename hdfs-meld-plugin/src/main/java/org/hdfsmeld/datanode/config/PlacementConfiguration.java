package org.hdfsmeld.datanode.config;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;

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
    return new PlacementConfiguration(
        Set.copyOf(
            new TreeSet<>(
                List.of(
                    conf.getTrimmedStrings(
                        MeldKeys.PLACEMENT_OPTANE_PROFILES,
                        MeldKeys.PLACEMENT_OPTANE_PROFILES_DEFAULT)))),
        bytes(conf, MeldKeys.PLACEMENT_SMALL_BYTES, MeldKeys.PLACEMENT_SMALL_BYTES_DEFAULT),
        bytes(
            conf,
            MeldKeys.PLACEMENT_OPTANE_MAX_OUTSTANDING,
            MeldKeys.PLACEMENT_OPTANE_MAX_OUTSTANDING_DEFAULT),
        bytes(
            conf, MeldKeys.PLACEMENT_OPTANE_RESERVED, MeldKeys.PLACEMENT_OPTANE_RESERVED_DEFAULT));
  }

  private static long bytes(Configuration conf, String key, String defaultValue)
      throws MeldConfigurationException {
    return Values.bytes(conf, key, defaultValue, 0, Long.MAX_VALUE);
  }
}
