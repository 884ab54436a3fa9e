package org.hdfsmeld.datanode.config;

import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.nativeio.NativeIO;

/**
 * The machine whose read-ahead is modelled.
 *
 * @param readAheadBytes the block device's {@code queue/read_ahead_kb}, in bytes
 * @param maxRequestBytes its {@code queue/max_sectors_kb}, in bytes
 * @param fadvise whether the DataNode's advice reaches the kernel: with Hadoop's native library
 * @param dataNodeBytes {@code dfs.datanode.readahead.bytes}
 */
public record LinuxConfiguration(
    long readAheadBytes, long maxRequestBytes, boolean fadvise, long dataNodeBytes) {
  /** The kernel's page. */
  public static final long PAGE_BYTES = 4 << 10;

  private static final String DATANODE_KEY = "dfs.datanode.readahead.bytes";
  private static final long DATANODE_DEFAULT = 4 << 20;
  private static final long MAX_BYTES = 1 << 30;

  static LinuxConfiguration read(Configuration conf) throws MeldConfigurationException {
    return new LinuxConfiguration(
        Values.bytes(
            conf,
            MeldKeys.READAHEAD_LINUX_READ_AHEAD,
            MeldKeys.READAHEAD_LINUX_READ_AHEAD_DEFAULT,
            0,
            MAX_BYTES),
        Values.bytes(
            conf,
            MeldKeys.READAHEAD_LINUX_MAX_REQUEST,
            MeldKeys.READAHEAD_LINUX_MAX_REQUEST_DEFAULT,
            PAGE_BYTES,
            MAX_BYTES),
        fadvise(conf),
        conf.getLong(DATANODE_KEY, DATANODE_DEFAULT));
  }

  private static boolean fadvise(Configuration conf) throws MeldConfigurationException {
    String value =
        conf.getTrimmed(MeldKeys.READAHEAD_LINUX_FADVISE, MeldKeys.READAHEAD_LINUX_FADVISE_DEFAULT);
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "auto" -> NativeIO.isAvailable();
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new MeldConfigurationException(
              MeldKeys.READAHEAD_LINUX_FADVISE, value, "use auto, true or false");
    };
  }
}
