package org.hdfsmeld.datanode.config;

import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;

/**
 * The plugin's configuration, read once and checked as a whole.
 *
 * @param mode how the device takes part at start
 * @param timeDilation wall seconds per simulated second
 * @param devices which device each volume lies on
 * @param hintFullBlockSequential whether full-size blocks carry the sequential directive at start
 * @param hintMinBytes bytes past which a block counts as full-size
 * @param windowBytes bytes a sequential reader keeps requested
 * @param requestBytes bytes of one device command, before rounding to whole wordlines
 * @param waitTimeoutNs longest wait of one call, in nanoseconds
 * @param spinNs how long a thread looks before it sleeps in real-time mode, in nanoseconds
 * @param failFast whether a simulator that cannot start stops the DataNode
 * @param nativeLibrary path of the library, or empty for the packed one
 * @param slotBytes bytes of one slot of the namespace: {@code dfs.blocksize}, at most 1 GiB; larger
 *     blocks take several slots
 * @param history how blocks without a read pattern are decided on
 * @param directiveSinks where the directive of a block goes
 * @param window how the device is read ahead of a reader
 * @param hints how it is asked for how blocks will be read
 * @param placement how new blocks are divided between kinds of devices
 * @param trace where and how much of the block trace is kept
 * @param state how the state of devices outlives the DataNode
 */
public record MeldConfiguration(
    MeldMode mode,
    double timeDilation,
    DeviceConfiguration devices,
    boolean hintFullBlockSequential,
    long hintMinBytes,
    int windowBytes,
    int requestBytes,
    long waitTimeoutNs,
    long spinNs,
    boolean failFast,
    String nativeLibrary,
    long slotBytes,
    HistoryConfiguration history,
    SinkChoice directiveSinks,
    WindowConfiguration window,
    HintConfiguration hints,
    PlacementConfiguration placement,
    TraceConfiguration trace,
    StateConfiguration state) {

  private static final String BLOCK_SIZE_KEY = "dfs.blocksize";
  private static final long BLOCK_SIZE_DEFAULT = 128L << 20;
  private static final long MAX_SLOT_BYTES = 1 << 30;
  private static final double MIN_DILATION = 0.001;
  private static final double MAX_DILATION = 1_000_000;
  private static final int SPIN_PROCESSORS = 4;
  private static final long AUTO_SPIN_NS = 1_000_000;
  private static final long MAX_SPIN_NS = 10_000_000;
  private static final long MIN_REQUEST_BYTES = 4 << 10;
  private static final long MAX_WINDOW_BYTES = 1 << 30;

  /**
   * Reads and checks every key.
   *
   * @throws MeldConfigurationException on the first key that is unknown or has a value that cannot
   *     be used
   */
  public static MeldConfiguration read(Configuration conf) throws MeldConfigurationException {
    refuseUnknownKeys(conf);
    int window =
        (int)
            Values.bytes(
                conf,
                MeldKeys.READAHEAD_WINDOW,
                MeldKeys.READAHEAD_WINDOW_DEFAULT,
                MIN_REQUEST_BYTES,
                MAX_WINDOW_BYTES);
    int request =
        (int)
            Values.bytes(
                conf,
                MeldKeys.READAHEAD_REQUEST,
                MeldKeys.READAHEAD_REQUEST_DEFAULT,
                MIN_REQUEST_BYTES,
                MAX_WINDOW_BYTES);
    if (request > window) {
      throw new MeldConfigurationException(
          MeldKeys.READAHEAD_REQUEST,
          conf.getTrimmed(MeldKeys.READAHEAD_REQUEST, MeldKeys.READAHEAD_REQUEST_DEFAULT),
          "is larger than " + MeldKeys.READAHEAD_WINDOW + "; make it at most " + window + " bytes");
    }
    return new MeldConfiguration(
        mode(conf),
        dilation(conf),
        DeviceConfiguration.read(conf),
        Values.flag(
            conf, MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL, MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL_DEFAULT),
        Values.bytes(
            conf, MeldKeys.HINT_MIN_BYTES, MeldKeys.HINT_MIN_BYTES_DEFAULT, 0, MAX_WINDOW_BYTES),
        window,
        request,
        waitTimeoutNs(conf),
        spinNs(conf, Runtime.getRuntime().availableProcessors()),
        Values.flag(conf, MeldKeys.FAIL_FAST, MeldKeys.FAIL_FAST_DEFAULT),
        conf.getTrimmed(MeldKeys.NATIVE_LIBRARY, MeldKeys.NATIVE_LIBRARY_DEFAULT),
        Math.min(
            Values.bytes(
                conf, BLOCK_SIZE_KEY, Long.toString(BLOCK_SIZE_DEFAULT), 1, Long.MAX_VALUE),
            MAX_SLOT_BYTES),
        HistoryConfiguration.read(conf),
        directiveSinks(conf),
        WindowConfiguration.read(conf),
        HintConfiguration.read(conf),
        PlacementConfiguration.read(conf),
        TraceConfiguration.read(conf),
        StateConfiguration.read(conf));
  }

  /** Why a time dilation cannot be used, or null when it can. The bounds are the simulator's. */
  public static String dilationProblem(double dilation) {
    boolean usable = dilation >= MIN_DILATION && dilation <= MAX_DILATION;
    return usable
        ? null
        : "must be a number from 0.001 to 1000000; 1.0 runs the device at its own speed";
  }

  private static void refuseUnknownKeys(Configuration conf) throws MeldConfigurationException {
    for (String rest : new TreeSet<>(conf.getPropsWithPrefix(MeldKeys.PREFIX).keySet())) {
      String key = MeldKeys.PREFIX + rest;
      if (!MeldKeys.ALL.contains(key) && !MeldKeys.RENAMED.contains(key)) {
        throw new MeldConfigurationException(
            key,
            conf.getRaw(key),
            "unknown key; remove it or use one of " + String.join(", ", MeldKeys.ALL));
      }
    }
  }

  private static MeldMode mode(Configuration conf) throws MeldConfigurationException {
    String value = conf.getTrimmed(MeldKeys.MODE, MeldKeys.MODE_DEFAULT);
    try {
      return MeldMode.parse(value);
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(MeldKeys.MODE, value, e.getMessage());
    }
  }

  private static SinkChoice directiveSinks(Configuration conf) throws MeldConfigurationException {
    String value = conf.getTrimmed(MeldKeys.DIRECTIVE_SINKS, MeldKeys.DIRECTIVE_SINKS_DEFAULT);
    SinkChoice choice = SinkChoice.parse(value);
    if (choice == null) {
      throw new MeldConfigurationException(
          MeldKeys.DIRECTIVE_SINKS, value, "use one of " + SinkChoice.names());
    }
    return choice;
  }

  private static double dilation(Configuration conf) throws MeldConfigurationException {
    String value = conf.getTrimmed(MeldKeys.TIME_DILATION, MeldKeys.TIME_DILATION_DEFAULT);
    double dilation;
    try {
      dilation = Double.parseDouble(value);
    } catch (NumberFormatException e) {
      dilation = Double.NaN;
    }
    String problem = dilationProblem(dilation);
    if (problem != null) {
      throw new MeldConfigurationException(MeldKeys.TIME_DILATION, value, problem);
    }
    return dilation;
  }

  /** By itself, a spin is for where enough processors are left for HDFS. */
  static long spinNs(Configuration conf, int processors) throws MeldConfigurationException {
    String value = conf.getTrimmed(MeldKeys.REALTIME_SPIN, MeldKeys.REALTIME_SPIN_DEFAULT);
    if (value.equals(MeldKeys.REALTIME_SPIN_DEFAULT)) {
      return processors < SPIN_PROCESSORS ? 0 : AUTO_SPIN_NS;
    }
    long ns = Values.durationNs(conf, MeldKeys.REALTIME_SPIN, "1ms");
    if (ns > MAX_SPIN_NS) {
      throw new MeldConfigurationException(
          MeldKeys.REALTIME_SPIN, value, "must be auto, or at most 10ms; 0 for none");
    }
    return ns;
  }

  private static long waitTimeoutNs(Configuration conf) throws MeldConfigurationException {
    long ns = Values.durationNs(conf, MeldKeys.WAIT_TIMEOUT, MeldKeys.WAIT_TIMEOUT_DEFAULT);
    if (ns == 0) {
      throw new MeldConfigurationException(
          MeldKeys.WAIT_TIMEOUT,
          conf.getTrimmed(MeldKeys.WAIT_TIMEOUT, MeldKeys.WAIT_TIMEOUT_DEFAULT),
          "must be above 0, such as " + MeldKeys.WAIT_TIMEOUT_DEFAULT);
    }
    return ns;
  }
}
