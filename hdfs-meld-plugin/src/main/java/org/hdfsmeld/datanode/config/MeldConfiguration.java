package org.hdfsmeld.datanode.config;

import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin's configuration, read once and checked as a whole. {@code meld-default.xml} says what
 * each key is.
 *
 * @param slotBytes bytes of one slot of the namespace: {@code dfs.blocksize}, at most 1 GiB; larger
 *     blocks take several slots
 * @param unknownKeys how many keys there are that do nothing
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
    WindowConfiguration window,
    HintConfiguration hints,
    PlacementConfiguration placement,
    TraceConfiguration trace,
    StateConfiguration state,
    int unknownKeys) {
  private static final Logger LOG = LoggerFactory.getLogger(MeldConfiguration.class);
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
   * @throws MeldConfigurationException on the first key that has a value that cannot be used; with
   *     {@link MeldKeys#FAIL_FAST} also on one that is unknown
   */
  public static MeldConfiguration read(Configuration conf) throws MeldConfigurationException {
    int unknown = unknownKeys(conf);
    int window =
        (int) Values.number(conf, MeldKeys.READAHEAD_WINDOW, MIN_REQUEST_BYTES, MAX_WINDOW_BYTES);
    int request =
        (int) Values.number(conf, MeldKeys.READAHEAD_REQUEST, MIN_REQUEST_BYTES, MAX_WINDOW_BYTES);
    if (request > window) {
      throw new MeldConfigurationException(
          MeldKeys.READAHEAD_REQUEST,
          Values.text(conf, MeldKeys.READAHEAD_REQUEST),
          "is larger than " + MeldKeys.READAHEAD_WINDOW + "; make it at most " + window + " bytes");
    }
    return new MeldConfiguration(
        Values.choice(conf, MeldKeys.MODE, MeldMode.class),
        dilation(conf),
        DeviceConfiguration.read(conf),
        Values.flag(conf, MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL),
        Values.number(conf, MeldKeys.HINT_MIN_BYTES, 0, MAX_WINDOW_BYTES),
        window,
        request,
        Values.duration(conf, MeldKeys.WAIT_TIMEOUT, TimeUnit.NANOSECONDS, 1),
        spinNs(conf, Runtime.getRuntime().availableProcessors()),
        Values.flag(conf, MeldKeys.FAIL_FAST),
        Values.text(conf, MeldKeys.NATIVE_LIBRARY),
        Math.min(Values.number(conf, MeldKeys.BLOCK_SIZE, 1, Long.MAX_VALUE), MAX_SLOT_BYTES),
        HistoryConfiguration.read(conf),
        WindowConfiguration.read(conf),
        HintConfiguration.read(conf),
        PlacementConfiguration.read(conf),
        TraceConfiguration.read(conf),
        StateConfiguration.read(conf),
        unknown);
  }

  /** Why a time dilation cannot be used, or null when it can. The bounds are the simulator's. */
  public static String dilationProblem(double dilation) {
    boolean usable = dilation >= MIN_DILATION && dilation <= MAX_DILATION;
    return usable
        ? null
        : "must be a number from 0.001 to 1000000; 1.0 runs the device at its own speed";
  }

  /** Counts them: they are typos, or of a later version whose jar comes after its keys. */
  private static int unknownKeys(Configuration conf) throws MeldConfigurationException {
    boolean refuses = Values.flag(conf, MeldKeys.FAIL_FAST);
    int unknown = 0;
    for (String rest : new TreeSet<>(conf.getPropsWithPrefix(MeldKeys.PREFIX).keySet())) {
      String key = MeldKeys.PREFIX + rest;
      if (MeldKeys.defaultOf(key) == null) {
        String keys = String.join(", ", MeldKeys.DEFAULTS.keySet());
        MeldConfigurationException problem =
            new MeldConfigurationException(
                key,
                conf.getRaw(key),
                MeldKeys.REMOVED.getOrDefault(key, "unknown key; remove it or use one of " + keys));
        if (refuses) {
          throw problem;
        }
        LOG.warn("{}. It does nothing here.", problem.getMessage());
        unknown++;
      }
    }
    return unknown;
  }

  private static double dilation(Configuration conf) throws MeldConfigurationException {
    String value = Values.text(conf, MeldKeys.TIME_DILATION);
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
    String value = Values.text(conf, MeldKeys.REALTIME_SPIN);
    if (value.equals(MeldKeys.defaultOf(MeldKeys.REALTIME_SPIN))) {
      return processors < SPIN_PROCESSORS ? 0 : AUTO_SPIN_NS;
    }
    long ns = Values.duration(conf, MeldKeys.REALTIME_SPIN, TimeUnit.NANOSECONDS, 0);
    if (ns > MAX_SPIN_NS) {
      throw new MeldConfigurationException(
          MeldKeys.REALTIME_SPIN, value, "must be auto, or at most 10ms; 0 for none");
    }
    return ns;
  }
}
