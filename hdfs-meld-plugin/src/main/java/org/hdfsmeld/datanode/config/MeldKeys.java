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

  /** {@code off}, {@code account} or {@code real-time}. */
  public static final String MODE = key("mode", "account");

  /** Wall seconds that one simulated second takes in real-time mode. */
  public static final String TIME_DILATION = key("time-dilation", "1.0");

  /** Built-in device profile, or the path of a TOML file. */
  public static final String PROFILE = key("profile", "melded-tlc-8x8");

  /** Devices that several volumes share, as {@code name=profile}, separated by commas. */
  public static final String DEVICES = key("devices", "");

  /**
   * Volumes with a device of their own, as {@code directory=profile}, or on a shared one, as {@code
   * directory=@device/set}; separated by commas.
   */
  public static final String VOLUME_PROFILES = key("volume.profiles", "");

  /** What a device has been through that is opened anew: {@code fill=80,random=100}. */
  public static final String PRECONDITION = key("precondition", "");

  /**
   * The same of single devices, as {@code directory=fill/random} or {@code @device=fill/random};
   * separated by commas.
   */
  public static final String VOLUME_PRECONDITIONS = key("volume.preconditions", "");

  /** Profiles of the devices that the placement policy treats as Optane. */
  public static final String PLACEMENT_OPTANE_PROFILES =
      key("placement.optane-profiles", "optane-900p");

  /** Bytes up to which a block without a hint counts as small. */
  public static final String PLACEMENT_SMALL_BYTES = key("placement.small-bytes", "2m");

  /** Bytes outstanding on an Optane device, reads and writes, past which blocks go elsewhere. */
  public static final String PLACEMENT_OPTANE_MAX_OUTSTANDING =
      key("placement.optane-max-outstanding", "256k");

  /** Bytes of an Optane volume that only random-read and small blocks may take. */
  public static final String PLACEMENT_OPTANE_RESERVED = key("placement.optane-reserved", "1g");

  /** {@link #HINT_TIMEOUT} by its first name; counts where that one is not set. */
  public static final String PLACEMENT_HINT_TIMEOUT = PREFIX + "placement.hint-timeout";

  /** Longest wait of a block that is created for the NameNode's hint; 0 asks nobody. */
  public static final String HINT_TIMEOUT = key("hint.timeout", "50ms");

  /** Blocks whose hints the DataNode keeps. */
  public static final String HINT_CACHE_BLOCKS = key("hint.cache-blocks", "65536");

  /** Where the directive of a block goes. */
  public static final String DIRECTIVE_SINKS = key("directive.sinks", "simulator");

  /** Whether full-size blocks are written with the sequential read pattern. */
  public static final String HINT_FULL_BLOCK_SEQUENTIAL = key("hint.full-block-sequential", "true");

  /** Bytes past which a block is taken as full-size. */
  public static final String HINT_MIN_BYTES = key("hint.min-bytes", "2m");

  /** {@code history}, {@code full-block} or {@code off}. */
  public static final String HINT_AUTOMATIC = key("hint.automatic", "history");

  /** Time in which a read loses half of its weight in the history. */
  public static final String HINT_HISTORY_HALF_LIFE = key("hint.history.half-life", "1d");

  /** Runs of reads of a file or directory from which on its history decides. */
  public static final String HINT_HISTORY_MIN_RUNS = key("hint.history.min-runs", "8");

  /** Files, directories and blocks of a volume that are remembered. */
  public static final String HINT_HISTORY_MAX_ENTRIES = key("hint.history.max-entries", "16384");

  /** How often a changed history is saved. */
  public static final String HINT_HISTORY_SAVE_INTERVAL = key("hint.history.save-interval", "5m");

  /** Bytes a sequential reader keeps requested from the device. */
  public static final String READAHEAD_WINDOW = key("readahead.window", "16m");

  /** Bytes of one device command of the window. */
  public static final String READAHEAD_REQUEST = key("readahead.request", "1m");

  /** {@code adaptive}, {@code fixed} or {@code linux}. */
  public static final String READAHEAD_MODE = key("readahead.mode", "adaptive");

  /** The modelled kernel's {@code read_ahead_kb}. */
  public static final String READAHEAD_LINUX_READ_AHEAD = key("readahead.linux.read-ahead", "128k");

  /** The modelled kernel's {@code max_sectors_kb}. */
  public static final String READAHEAD_LINUX_MAX_REQUEST =
      key("readahead.linux.max-request", "1280k");

  /** Whether the DataNode advises the modelled kernel. */
  public static final String READAHEAD_LINUX_FADVISE = key("readahead.linux.fadvise", "auto");

  /** Folder under which each DataNode keeps its trace files. */
  public static final String TRACE_DIR = key("trace.dir", "${user.home}/meld-trace");

  /** Most trace files of a DataNode. */
  public static final String TRACE_MAX_FILES = key("trace.max-files", "16");

  /** Compressed bytes of a trace file. */
  public static final String TRACE_FILE_BYTES = key("trace.file-bytes", "64m");

  /** Records that wait to be written at most. */
  public static final String TRACE_BUFFER_RECORDS = key("trace.buffer-records", "65536");

  /** How a trace names directories. */
  public static final String TRACE_DIRECTORIES = key("trace.directories", "hash");

  /** In real-time mode, how long threads look before they sleep; or {@code auto}. */
  public static final String REALTIME_SPIN = key("realtime.spin", "auto");

  /** Longest wait of one HDFS call for the simulated device. */
  public static final String WAIT_TIMEOUT = key("wait-timeout", "30s");

  /** Whether a simulator that cannot start stops the DataNode from starting. */
  public static final String FAIL_FAST = key("fail-fast", "false");

  /** Path of the simulator's library; empty for the one packed in the jar. */
  public static final String NATIVE_LIBRARY = key("native.library", "");

  /** Whether the state of devices outlives the DataNode. */
  public static final String STATE_ENABLED = key("state.enabled", "true");

  /** Longest time between two snapshots of a device while blocks change. */
  public static final String STATE_SNAPSHOT_INTERVAL = key("state.snapshot-interval", "10m");

  /** Size of a journal past which a snapshot is taken early. */
  public static final String STATE_JOURNAL_MAX_BYTES = key("state.journal-max-bytes", "64m");

  /** Size past which a snapshot is not written. */
  public static final String STATE_SNAPSHOT_MAX_BYTES = key("state.snapshot-max-bytes", "1g");

  /** Of HDFS: bytes of a block. */
  static final String BLOCK_SIZE = "dfs.blocksize";

  /** A key by its former name, which still counts, and one of HDFS; with their defaults. */
  static final Map<String, String> OTHERS =
      Map.of(PLACEMENT_HINT_TIMEOUT, DEFAULTS.get(HINT_TIMEOUT), BLOCK_SIZE, "128m");

  private MeldKeys() {}

  static String defaultOf(String key) {
    return DEFAULTS.getOrDefault(key, OTHERS.get(key));
  }

  private static String key(String name, String defaultValue) {
    DEFAULTS.put(PREFIX + name, defaultValue);
    return PREFIX + name;
  }
}
