package org.hdfsmeld.datanode.volume;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.hdfsmeld.datanode.config.HistoryConfiguration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.config.Precondition;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.config.WindowConfiguration;
import org.hdfsmeld.datanode.device.SharedDevice;
import org.hdfsmeld.datanode.device.VolumePort;
import org.hdfsmeld.datanode.device.WaitBudget;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.hint.HistoryPolicy;
import org.hdfsmeld.datanode.hint.LayoutTimes;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.layout.LayoutPolicy;
import org.hdfsmeld.datanode.layout.VolumeBlocks;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.SimMetricsSource;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.readahead.KernelReadAhead;
import org.hdfsmeld.datanode.readahead.ParkedWindows;
import org.hdfsmeld.datanode.readahead.ReadAhead;
import org.hdfsmeld.datanode.readahead.ReadAheadWindow;
import org.hdfsmeld.datanode.readahead.RequestedRange;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.timeline.DatanodeTimeline;
import org.hdfsmeld.trace.BlockTrace;
import org.hdfsmeld.trace.BlockTrace.VolumeTrace;

/** One DataNode volume with its simulated device: what streams, metrics and JMX work on. */
public final class MeldVolume implements MeldVolumeMXBean {
  /** What the volumes of a DataNode share. */
  public record Shared(
      MeldConfiguration config,
      HintSource hints,
      SimFailures failures,
      BlockTrace trace,
      DatanodeTimeline timeline) {}

  private final File currentDir;
  private final Shared shared;
  private final Counters<VolumeCounter> counters = new Counters<>(VolumeCounter.class);
  private final LayoutPolicy policy;
  private final VolumeBinding binding;

  /** How the volume has been read; null where that decides nothing. */
  private final HistoryPolicy history;

  private final VolumePort device;
  private final ParkedWindows parkedWindows = new ParkedWindows();
  private final VolumeTrace trace;
  private volatile VolumeBlocks blocks;

  /** A volume that will be on a device; {@link #change} or {@link #attach} puts it there. */
  public MeldVolume(String storageId, File currentDir, SharedDevice device, Shared shared) {
    this.currentDir = currentDir;
    this.shared = shared;
    MeldConfiguration config = shared.config();
    HistoryConfiguration.Automatic automatic = config.history().automatic();
    this.history =
        automatic == HistoryConfiguration.Automatic.HISTORY
            ? new HistoryPolicy(root(currentDir), config.history(), device.opener(), counters)
            : null;
    this.policy =
        new LayoutPolicy(
            history == null ? hint -> HintDecision.BY_SIZE : history::decide,
            history == null ? hint -> 0 : this::handle,
            config.hintFullBlockSequential() && automatic != HistoryConfiguration.Automatic.OFF,
            config.hintMinBytes(),
            Directive.sequential(config.windowBytes()));
    this.binding = config.devices().of(root(currentDir));
    this.device =
        new VolumePort(storageId, getVolume(), binding.set(), device, shared.failures(), counters);
    this.trace = shared.trace().volume(storageId, this::state);
  }

  /** The reclaim unit handle that a block belongs to, by how long its like has lived. */
  private int handle(BlockHint hint) {
    NamespaceInfo namespace = device.namespace();
    return namespace == null || namespace.handles() < 2
        ? 0
        : history.handle(hint, namespace.handles());
  }

  /**
   * A replica was deleted. The block has died with it if the NameNode knows it no more; that is
   * asked where lifetimes decide something.
   */
  private void deleted(BlockExtent block) {
    NamespaceInfo namespace = device.namespace();
    if (history != null && namespace != null && namespace.handles() > 1) {
      BlockHint last = block.hint();
      long bornAs = block.bornAs();
      shared
          .hints()
          .renew(
              block.key(),
              hint -> {
                if (!hint.isKnown()) {
                  history.died(last, bornAs);
                }
              });
    }
  }

  /** For readers of a trace: what the volume's times mean. */
  private String state() {
    return "mode " + getMode() + ", time dilation " + getTimeDilation();
  }

  public VolumeTrace trace() {
    return trace;
  }

  public DatanodeTimeline timeline() {
    return shared.timeline();
  }

  /** A volume's folder, of which {@code currentDir} is the {@code current} one. */
  static File root(File currentDir) {
    File root = currentDir.getParentFile();
    return root == null ? currentDir : root;
  }

  File root() {
    return root(currentDir);
  }

  File currentDir() {
    return currentDir;
  }

  public MeldConfiguration config() {
    return shared.config();
  }

  public VolumePort device() {
    return device;
  }

  public Counters<VolumeCounter> counters() {
    return counters;
  }

  public LayoutPolicy policy() {
    return policy;
  }

  /** Mean bytes outstanding on the device; 0 where nobody waits for it or it is out of service. */
  long outstandingBytes() {
    return device.isHealthy() ? device.device().outstandingBytes() : 0;
  }

  /** The blocks on the device; null until it is open. */
  public VolumeBlocks blocks() {
    VolumeBlocks present = blocks;
    return present == null && device.namespace() != null ? makeBlocks() : present;
  }

  private synchronized VolumeBlocks makeBlocks() {
    if (blocks == null) {
      blocks =
          new VolumeBlocks(
              device,
              shared.config().slotBytes(),
              policy,
              shared.hints(),
              this::deleted,
              counters,
              trace);
    }
    return blocks;
  }

  String storageId() {
    return device.storageId();
  }

  /**
   * Puts the volume on its device. The first one starts it in the configured mode; for others the
   * mode stays what it is, which JMX may have changed.
   *
   * @throws SimException when the device cannot be used, or refuses the volume
   */
  void start() throws SimException {
    attached(SharedDevice::start);
  }

  /**
   * Changes mode and dilation of the device, for all volumes on it; opens it when it is first
   * needed.
   *
   * @throws SimException when that fails; the device is then out of service
   */
  public void change(MeldMode mode, double timeDilation) throws SimException {
    attached(target -> target.setMode(mode, timeDilation));
  }

  private interface Action {
    void on(SharedDevice device) throws SimException;
  }

  private void attached(Action action) throws SimException {
    try {
      device.attach();
      action.on(device.device());
    } catch (SimException e) {
      counters.increment(VolumeCounter.ERRORS);
      throw e;
    }
  }

  /** The block whose data {@code file} holds, or null when it holds something else. */
  public BlockKey dataBlock(File file) {
    return key(file, BlockFiles.dataBlockId(file));
  }

  /** The block whose checksums {@code file} holds, or null when it holds something else. */
  public BlockKey metaBlock(File file) {
    return key(file, BlockFiles.metaBlockId(file));
  }

  private BlockKey key(File file, OptionalLong id) {
    String pool = id.isPresent() ? BlockFiles.pool(currentDir, file) : null;
    return pool == null ? null : new BlockKey(pool, id.getAsLong());
  }

  /** Whether a window outlives its stream, for a reader that goes on there. */
  public boolean parksWindows() {
    return shared.config().window().mode() == WindowConfiguration.Mode.ADAPTIVE;
  }

  public ParkedWindows parkedWindows() {
    return parkedWindows;
  }

  /** A window without requests, of a stream that may have been opened for a long read. */
  public ReadAhead newWindow(RequestedRange.Source source, boolean longRead) {
    NamespaceInfo namespace = device.namespace();
    WindowConfiguration.Mode mode = shared.config().window().mode();
    if (mode == WindowConfiguration.Mode.LINUX) {
      return new KernelReadAhead(source, namespace.pageBytes(), shared.config().window(), longRead);
    }
    return new ReadAheadWindow(
        source,
        mode == WindowConfiguration.Mode.ADAPTIVE,
        namespace.pageBytes(),
        namespace.wordlineBytes(),
        shared.config().requestBytes(),
        shared.config().windowBytes());
  }

  /** What one call of a stream may wait: nothing unless it is paced. */
  public WaitBudget newBudget(boolean paced) {
    return new WaitBudget(paced ? shared.config().waitTimeoutNs() : 0);
  }

  /** A run of sequential reads of a block has ended; see {@link HistoryPolicy#record}. */
  public void readRun(BlockExtent block, long bytes, long reads, long outstandingBytes) {
    VolumeBlocks present = blocks;
    if (history == null || present == null) {
      return;
    }
    boolean isFirst = block.isFirst(BlockExtent.COUNTED);
    Runnable record =
        () -> history.record(block.hint(), block.bornAs(), isFirst, bytes, reads, outstandingBytes);
    // Later ones do not wait: a NameNode that does not answer must not keep many.
    if (isFirst) {
      present.whenNamed(block, record);
    } else {
      record.run();
    }
  }

  /** The block was created here; new where it is no copy of one that there is already. */
  void created(BlockKey key, BlockHint hint, File file, boolean isNew) {
    VolumeBlocks present = blocks();
    if (present != null && device.isHealthy() && device.mode() != MeldMode.OFF) {
      BlockExtent extent = present.create(key, hint, BlockFile.of(file));
      if (isNew) {
        extent.begins();
      }
    }
  }

  /** The block has its final length: compares it with what the device was told. */
  public void finalized(BlockKey key, long length) {
    VolumeBlocks present = blocks();
    if (present == null || !device.isHealthy() || device.mode() == MeldMode.OFF) {
      return;
    }
    BlockExtent extent = present.find(key);
    if (length > (extent == null ? 0 : extent.mappedBytes())) {
      VolumeCounter unknown =
          device.device().isSwitched()
              ? VolumeCounter.SWITCHED_WRITES
              : VolumeCounter.UNSEEN_WRITES;
      VolumeCounter cause = extent == null ? unknown : extent.lacks();
      if (cause == VolumeCounter.UNSEEN_WRITES) {
        unseen(key.toString());
      } else {
        counters.increment(cause);
      }
    }
    if (extent != null) {
      present.renew(extent);
    }
  }

  /** For people: what is known of the kind of a block's path, and of its parent. */
  String known(BlockHint hint) {
    return history == null
        ? ""
        : history.describe(hint.kind()) + "; directory: " + history.describe(hint.parentKind());
  }

  public void unseen(String what) {
    counters.increment(VolumeCounter.UNSEEN_WRITES);
    shared.failures().unseen(getVolume(), what);
  }

  public void truncated(BlockKey key, long length) {
    Optional.ofNullable(blocks()).ifPresent(present -> present.truncate(key, length));
  }

  void poolGone(String pool) {
    Optional.ofNullable(blocks()).ifPresent(present -> present.dropPool(pool));
  }

  public void deleted(BlockKey key) {
    Optional.ofNullable(blocks()).ifPresent(present -> present.drop(key));
  }

  public void deleted(BlockKey key, File file) {
    Optional.ofNullable(blocks()).ifPresent(present -> present.drop(key, file));
  }

  /** The block came onto this volume by a hard link: nothing was written, but the device has it. */
  public void linked(BlockKey key, File file) {
    VolumeBlocks present = blocks();
    if (present != null && device.forwards()) {
      present.io().preload(present.extent(key, BlockFile.of(file)), file.length());
    }
  }

  /** HDFS has the volume no more: nothing is forwarded from now on. Waits for nothing. */
  void stopForwarding() {
    device.stopForwarding();
  }

  /**
   * Takes the volume off its device, gives its room there to others if it was removed, and saves
   * what is to be kept. May wait for all that.
   */
  void shutdown(boolean removed) {
    VolumeBlocks present = blocks;
    if (removed && present != null && binding.isShared()) {
      present.clear(newBudget(true));
    }
    if (history != null) {
      history.close();
    }
    device.close();
    trace.left();
  }

  public void close() {
    stopForwarding();
    shutdown(false);
  }

  @Override
  public String getVolume() {
    return root(currentDir).getPath();
  }

  @Override
  public String getProfile() {
    return binding.profile();
  }

  @Override
  public String getDevice() {
    return binding.device();
  }

  @Override
  public String getMode() {
    return device.mode().text();
  }

  @Override
  public void setMode(String mode) {
    changeOverJmx(MeldMode.parse(mode), device.device().getTimeDilation());
  }

  @Override
  public double getTimeDilation() {
    return device.device().getTimeDilation();
  }

  @Override
  public void setTimeDilation(double timeDilation) {
    changeOverJmx(device.mode(), timeDilation);
  }

  private void changeOverJmx(MeldMode mode, double timeDilation) {
    try {
      change(mode, timeDilation);
    } catch (SimException e) {
      // A JMX client need not have our exception classes.
      throw new IllegalStateException(e.getMessage());
    }
  }

  @Override
  public boolean isHintFullBlockSequential() {
    return policy.isFullBlockSequential();
  }

  @Override
  public void setHintFullBlockSequential(boolean enabled) {
    policy.setFullBlockSequential(enabled);
  }

  @Override
  public boolean isHealthy() {
    return device.isHealthy();
  }

  @Override
  public String getLastError() {
    return device.device().getLastError();
  }

  /** For people: the device, and what that had been through before HDFS. */
  String profileAndPast() {
    Precondition past = device.device().past();
    return past.equals(Precondition.NONE) ? getProfile() : getProfile() + ", precondition " + past;
  }

  @Override
  public Map<String, Long> getCounters() {
    long pending = device.device().pending();
    // Several volumes must not each show as theirs what their device did for all of them.
    Map<String, Long> values =
        binding.isShared() ? new LinkedHashMap<>() : device.device().getCounters();
    values.putAll(device.stats());
    values.put(SharedDevice.COUNTERS_PENDING, pending);
    VolumeBlocks present = blocks;
    NamespaceInfo namespace = device.namespace();
    long pageBytes = namespace == null ? 0 : namespace.pageBytes();
    values.put("unknown_keys", (long) config().unknownKeys());
    values.put("mapped_bytes", values.getOrDefault("mapped_pages", 0L) * pageBytes);
    values.put("blocks_mapped", present == null ? 0L : present.count());
    Precondition past = device.device().past();
    values.put("precondition_fill_percent", (long) past.fillPercent());
    values.put("precondition_random_percent", (long) past.randomPercent());
    values.put("history_entries", history == null ? 0L : history.size());
    values.put("lifetime_groups", history == null ? 0L : history.groups());
    LayoutTimes times = history == null ? null : history.times();
    values.put("crossover_bytes", times == null ? 0L : times.crossoverBytes());
    values.putAll(counters.values());
    return values;
  }

  @Override
  public double getMeldedShare() {
    return SimMetricsSource.meldedShare(device.stats());
  }
}
