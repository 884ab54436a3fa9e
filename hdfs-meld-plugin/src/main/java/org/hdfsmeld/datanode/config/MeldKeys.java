package org.hdfsmeld.datanode.config;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Configuration keys of the DataNode plugin, each beside its default.
 *
 * <p>The same keys and defaults, with units and effects, are in {@code meld-default.xml}; a test
 * holds the two together. That file is for reading. It is no default resource of Hadoop's: one that
 * is added late overrides {@code hdfs-site.xml}.
 */
public final class MeldKeys {
  /** What every key starts with. A key under it that is not listed here is refused. */
  public static final String PREFIX = "dfs.datanode.meld.";

  /** All keys with their defaults, in the order of this file. */
  static final Map<String, String> DEFAULTS = new LinkedHashMap<>();

  public static final String MODE = key("mode", "account");
  public static final String TIME_DILATION = key("time-dilation", "1.0");
  public static final String PROFILE = key("profile", "melded-tlc-8x8");
  public static final String DEVICES = key("devices", "");
  public static final String VOLUME_PROFILES = key("volume.profiles", "");
  public static final String PRECONDITION = key("precondition", "");
  public static final String VOLUME_PRECONDITIONS = key("volume.preconditions", "");
  public static final String PLACEMENT_OPTANE_PROFILES =
      key("placement.optane-profiles", "optane-900p");
  public static final String PLACEMENT_SMALL_BYTES = key("placement.small-bytes", "2m");
  public static final String PLACEMENT_OPTANE_MAX_OUTSTANDING =
      key("placement.optane-max-outstanding", "256k");
  public static final String PLACEMENT_OPTANE_RESERVED = key("placement.optane-reserved", "1g");

  /** {@link #HINT_TIMEOUT} by its first name; counts where that one is not set. */
  public static final String PLACEMENT_HINT_TIMEOUT = PREFIX + "placement.hint-timeout";

  public static final String HINT_TIMEOUT = key("hint.timeout", "50ms");
  public static final String HINT_CACHE_BLOCKS = key("hint.cache-blocks", "65536");
  public static final String HINT_FULL_BLOCK_SEQUENTIAL = key("hint.full-block-sequential", "true");
  public static final String HINT_MIN_BYTES = key("hint.min-bytes", "2m");
  public static final String HINT_AUTOMATIC = key("hint.automatic", "history");
  public static final String HINT_HISTORY_HALF_LIFE = key("hint.history.half-life", "1d");
  public static final String HINT_HISTORY_MIN_RUNS = key("hint.history.min-runs", "8");
  public static final String HINT_HISTORY_MAX_ENTRIES = key("hint.history.max-entries", "16384");
  public static final String HINT_HISTORY_SAVE_INTERVAL = key("hint.history.save-interval", "5m");
  public static final String HINT_HISTORY_SHORTEST_LIFE = key("hint.history.shortest-life", "1h");
  public static final String READAHEAD_WINDOW = key("readahead.window", "16m");
  public static final String READAHEAD_REQUEST = key("readahead.request", "1m");
  public static final String READAHEAD_MODE = key("readahead.mode", "adaptive");
  public static final String READAHEAD_LINUX_READ_AHEAD = key("readahead.linux.read-ahead", "128k");
  public static final String READAHEAD_LINUX_MAX_REQUEST =
      key("readahead.linux.max-request", "1280k");
  public static final String READAHEAD_LINUX_FADVISE = key("readahead.linux.fadvise", "auto");
  public static final String TRACE_DIR = key("trace.dir", "${user.home}/meld-trace");
  public static final String TRACE_MAX_FILES = key("trace.max-files", "16");
  public static final String TRACE_FILE_BYTES = key("trace.file-bytes", "64m");
  public static final String TRACE_BUFFER_RECORDS = key("trace.buffer-records", "65536");
  public static final String TRACE_DIRECTORIES = key("trace.directories", "hash");
  public static final String REALTIME_SPIN = key("realtime.spin", "auto");
  public static final String WAIT_TIMEOUT = key("wait-timeout", "30s");
  public static final String FAIL_FAST = key("fail-fast", "false");
  public static final String NATIVE_LIBRARY = key("native.library", "");
  public static final String STATE_ENABLED = key("state.enabled", "true");
  public static final String STATE_SNAPSHOT_INTERVAL = key("state.snapshot-interval", "10m");
  public static final String STATE_JOURNAL_MAX_BYTES = key("state.journal-max-bytes", "64m");
  public static final String STATE_SNAPSHOT_MAX_BYTES = key("state.snapshot-max-bytes", "1g");

  /** Of HDFS: bytes of a block. */
  static final String BLOCK_SIZE = "dfs.blocksize";

  /** A key by its former name, which still counts, and one of HDFS; with their defaults. */
  static final Map<String, String> OTHERS =
      Map.of(PLACEMENT_HINT_TIMEOUT, DEFAULTS.get(HINT_TIMEOUT), BLOCK_SIZE, "128m");

  /** Keys of earlier versions, with what to do about them. */
  static final Map<String, String> REMOVED =
      Map.of(
          PREFIX + "directive.sinks",
          "removed; remove it from hdfs-site.xml: directives go to the simulated device alone. For"
              + " blocks that go by size to have none, set "
              + HINT_AUTOMATIC
              + " to off");

  private MeldKeys() {}

  public static String defaultOf(String key) {
    return DEFAULTS.getOrDefault(key, OTHERS.get(key));
  }

  private static String key(String name, String defaultValue) {
    DEFAULTS.put(PREFIX + name, defaultValue);
    return PREFIX + name;
  }
}
