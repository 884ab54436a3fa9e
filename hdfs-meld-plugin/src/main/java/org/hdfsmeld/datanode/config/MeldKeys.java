package org.hdfsmeld.datanode.config;

import java.util.List;

/**
 * Configuration keys of the DataNode plugin, each beside its default.
 *
 * <p>The same keys, defaults, units and effects are in {@code meld-default.xml}; a test holds the
 * two together. That file is for reading: Hadoop lets a default resource that is added late
 * override {@code hdfs-site.xml}, so it is not added as one.
 */
public final class MeldKeys {
  /** What every key starts with. A key under it that is not listed here is refused. */
  public static final String PREFIX = "dfs.datanode.meld.";

  /** {@code off}, {@code account} or {@code real-time}. */
  public static final String MODE = PREFIX + "mode";

  public static final String MODE_DEFAULT = "account";

  /** Wall seconds that one simulated second takes in real-time mode. */
  public static final String TIME_DILATION = PREFIX + "time-dilation";

  public static final String TIME_DILATION_DEFAULT = "1.0";

  /** Built-in device profile, or the path of a TOML file. */
  public static final String PROFILE = PREFIX + "profile";

  public static final String PROFILE_DEFAULT = "melded-tlc-8x8";

  /** Devices that several volumes share, as {@code name=profile}, separated by commas. */
  public static final String DEVICES = PREFIX + "devices";

  public static final String DEVICES_DEFAULT = "";

  /**
   * Volumes with a device of their own, as {@code directory=profile}, or on a shared one, as {@code
   * directory=@device/set}; separated by commas.
   */
  public static final String VOLUME_PROFILES = PREFIX + "volume.profiles";

  public static final String VOLUME_PROFILES_DEFAULT = "";

  /** Profiles of the devices that the placement policy treats as Optane. */
  public static final String PLACEMENT_OPTANE_PROFILES = PREFIX + "placement.optane-profiles";

  public static final String PLACEMENT_OPTANE_PROFILES_DEFAULT = "optane-900p";

  /** Bytes up to which a block without a hint counts as small. */
  public static final String PLACEMENT_SMALL_BYTES = PREFIX + "placement.small-bytes";

  public static final String PLACEMENT_SMALL_BYTES_DEFAULT = "2m";

  /** Bytes outstanding on an Optane device, reads and writes, past which blocks go elsewhere. */
  public static final String PLACEMENT_OPTANE_MAX_OUTSTANDING =
      PREFIX + "placement.optane-max-outstanding";

  public static final String PLACEMENT_OPTANE_MAX_OUTSTANDING_DEFAULT = "256k";

  /** Bytes of an Optane volume that only random-read and small blocks may take. */
  public static final String PLACEMENT_OPTANE_RESERVED = PREFIX + "placement.optane-reserved";

  public static final String PLACEMENT_OPTANE_RESERVED_DEFAULT = "1g";

  /** {@link #HINT_TIMEOUT} by its first name; counts where that one is not set. */
  public static final String PLACEMENT_HINT_TIMEOUT = PREFIX + "placement.hint-timeout";

  /** Longest wait of a block that is created for the NameNode's hint; 0 asks nobody. */
  public static final String HINT_TIMEOUT = PREFIX + "hint.timeout";

  public static final String HINT_TIMEOUT_DEFAULT = "50ms";

  /** Blocks whose hints the DataNode keeps. */
  public static final String HINT_CACHE_BLOCKS = PREFIX + "hint.cache-blocks";

  public static final String HINT_CACHE_BLOCKS_DEFAULT = "65536";

  /** Where the directive of a block goes. */
  public static final String DIRECTIVE_SINKS = PREFIX + "directive.sinks";

  public static final String DIRECTIVE_SINKS_DEFAULT = "simulator";

  /** Whether full-size blocks are written with the sequential read pattern. */
  public static final String HINT_FULL_BLOCK_SEQUENTIAL = PREFIX + "hint.full-block-sequential";

  public static final String HINT_FULL_BLOCK_SEQUENTIAL_DEFAULT = "true";

  /** Bytes past which a block is taken as full-size. */
  public static final String HINT_MIN_BYTES = PREFIX + "hint.min-bytes";

  public static final String HINT_MIN_BYTES_DEFAULT = "2m";

  /** {@code history}, {@code full-block} or {@code off}. */
  public static final String HINT_AUTOMATIC = PREFIX + "hint.automatic";

  public static final String HINT_AUTOMATIC_DEFAULT = "history";

  /** Time in which a read loses half of its weight in the history. */
  public static final String HINT_HISTORY_HALF_LIFE = PREFIX + "hint.history.half-life";

  public static final String HINT_HISTORY_HALF_LIFE_DEFAULT = "1d";

  /** Runs of reads of a file or directory from which on its history decides. */
  public static final String HINT_HISTORY_MIN_RUNS = PREFIX + "hint.history.min-runs";

  public static final String HINT_HISTORY_MIN_RUNS_DEFAULT = "8";

  /** Files, directories and blocks of a volume that are remembered. */
  public static final String HINT_HISTORY_MAX_ENTRIES = PREFIX + "hint.history.max-entries";

  public static final String HINT_HISTORY_MAX_ENTRIES_DEFAULT = "16384";

  /** How often a changed history is saved. */
  public static final String HINT_HISTORY_SAVE_INTERVAL = PREFIX + "hint.history.save-interval";

  public static final String HINT_HISTORY_SAVE_INTERVAL_DEFAULT = "5m";

  /** Bytes a sequential reader keeps requested from the device. */
  public static final String READAHEAD_WINDOW = PREFIX + "readahead.window";

  public static final String READAHEAD_WINDOW_DEFAULT = "16m";

  /** Bytes of one device command of the window. */
  public static final String READAHEAD_REQUEST = PREFIX + "readahead.request";

  public static final String READAHEAD_REQUEST_DEFAULT = "1m";

  /** {@code adaptive}, {@code fixed} or {@code linux}. */
  public static final String READAHEAD_MODE = PREFIX + "readahead.mode";

  public static final String READAHEAD_MODE_DEFAULT = "adaptive";

  /** The modelled kernel's {@code read_ahead_kb}. */
  public static final String READAHEAD_LINUX_READ_AHEAD = PREFIX + "readahead.linux.read-ahead";

  public static final String READAHEAD_LINUX_READ_AHEAD_DEFAULT = "128k";

  /** The modelled kernel's {@code max_sectors_kb}. */
  public static final String READAHEAD_LINUX_MAX_REQUEST = PREFIX + "readahead.linux.max-request";

  public static final String READAHEAD_LINUX_MAX_REQUEST_DEFAULT = "1280k";

  /** Whether the DataNode advises the modelled kernel. */
  public static final String READAHEAD_LINUX_FADVISE = PREFIX + "readahead.linux.fadvise";

  public static final String READAHEAD_LINUX_FADVISE_DEFAULT = "auto";

  /** Folder under which each DataNode keeps its trace files. */
  public static final String TRACE_DIR = PREFIX + "trace.dir";

  public static final String TRACE_DIR_DEFAULT = "${user.home}/meld-trace";

  /** Most trace files of a DataNode. */
  public static final String TRACE_MAX_FILES = PREFIX + "trace.max-files";

  public static final String TRACE_MAX_FILES_DEFAULT = "16";

  /** Compressed bytes of a trace file. */
  public static final String TRACE_FILE_BYTES = PREFIX + "trace.file-bytes";

  public static final String TRACE_FILE_BYTES_DEFAULT = "64m";

  /** Records that wait to be written at most. */
  public static final String TRACE_BUFFER_RECORDS = PREFIX + "trace.buffer-records";

  public static final String TRACE_BUFFER_RECORDS_DEFAULT = "65536";

  /** How a trace names directories. */
  public static final String TRACE_DIRECTORIES = PREFIX + "trace.directories";

  public static final String TRACE_DIRECTORIES_DEFAULT = "hash";

  /** In real-time mode, how long threads look before they sleep; or {@code auto}. */
  public static final String REALTIME_SPIN = PREFIX + "realtime.spin";

  public static final String REALTIME_SPIN_DEFAULT = "auto";

  /** Longest wait of one HDFS call for the simulated device. */
  public static final String WAIT_TIMEOUT = PREFIX + "wait-timeout";

  public static final String WAIT_TIMEOUT_DEFAULT = "30s";

  /** Whether a simulator that cannot start stops the DataNode from starting. */
  public static final String FAIL_FAST = PREFIX + "fail-fast";

  public static final String FAIL_FAST_DEFAULT = "false";

  /** Path of the simulator's library; empty for the one packed in the jar. */
  public static final String NATIVE_LIBRARY = PREFIX + "native.library";

  public static final String NATIVE_LIBRARY_DEFAULT = "";

  /** Whether the state of devices outlives the DataNode. */
  public static final String STATE_ENABLED = PREFIX + "state.enabled";

  public static final String STATE_ENABLED_DEFAULT = "true";

  /** Longest time between two snapshots of a device while blocks change. */
  public static final String STATE_SNAPSHOT_INTERVAL = PREFIX + "state.snapshot-interval";

  public static final String STATE_SNAPSHOT_INTERVAL_DEFAULT = "10m";

  /** Size of a journal past which a snapshot is taken early. */
  public static final String STATE_JOURNAL_MAX_BYTES = PREFIX + "state.journal-max-bytes";

  public static final String STATE_JOURNAL_MAX_BYTES_DEFAULT = "64m";

  /** Size past which a snapshot is not written. */
  public static final String STATE_SNAPSHOT_MAX_BYTES = PREFIX + "state.snapshot-max-bytes";

  public static final String STATE_SNAPSHOT_MAX_BYTES_DEFAULT = "1g";

  /** Keys that have another name now, and still count. */
  static final List<String> RENAMED = List.of(PLACEMENT_HINT_TIMEOUT);

  /** All other keys. */
  static final List<String> ALL =
      List.of(
          MODE,
          TIME_DILATION,
          PROFILE,
          DEVICES,
          VOLUME_PROFILES,
          PLACEMENT_OPTANE_PROFILES,
          PLACEMENT_SMALL_BYTES,
          PLACEMENT_OPTANE_MAX_OUTSTANDING,
          PLACEMENT_OPTANE_RESERVED,
          HINT_TIMEOUT,
          HINT_CACHE_BLOCKS,
          DIRECTIVE_SINKS,
          HINT_FULL_BLOCK_SEQUENTIAL,
          HINT_MIN_BYTES,
          HINT_AUTOMATIC,
          HINT_HISTORY_HALF_LIFE,
          HINT_HISTORY_MIN_RUNS,
          HINT_HISTORY_MAX_ENTRIES,
          HINT_HISTORY_SAVE_INTERVAL,
          READAHEAD_WINDOW,
          READAHEAD_REQUEST,
          READAHEAD_MODE,
          READAHEAD_LINUX_READ_AHEAD,
          READAHEAD_LINUX_MAX_REQUEST,
          READAHEAD_LINUX_FADVISE,
          TRACE_DIR,
          TRACE_MAX_FILES,
          TRACE_FILE_BYTES,
          TRACE_BUFFER_RECORDS,
          TRACE_DIRECTORIES,
          STATE_ENABLED,
          STATE_SNAPSHOT_INTERVAL,
          STATE_JOURNAL_MAX_BYTES,
          STATE_SNAPSHOT_MAX_BYTES,
          REALTIME_SPIN,
          WAIT_TIMEOUT,
          FAIL_FAST,
          NATIVE_LIBRARY);

  private MeldKeys() {}
}
