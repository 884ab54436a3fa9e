package org.hdfsmeld.datanode.volume;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.util.functional.CommonCallableSupplier;
import org.apache.hadoop.util.functional.FutureIO;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.device.DeviceTimeline;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.VolumeBlocks;
import org.hdfsmeld.datanode.metrics.Publisher;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.DatanodeReport;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.timeline.DatanodeTimeline;
import org.hdfsmeld.trace.BlockTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The simulated volumes of one DataNode. */
public final class MeldVolumes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MeldVolumes.class);

  private static final HintDecision NOT_ASKED =
      new HintDecision(
          ReadPattern.AUTO,
          HintDecision.Source.NONE,
          "not known yet: the NameNode is asked when the block is opened");

  private final MeldVolume.Shared shared;
  private final ThreadLocal<Creation> creation =
      ThreadLocal.withInitial(
          () -> new Creation(new BlockKey("", 0), BlockHint.NONE, ReadPattern.AUTO));
  private final Publisher traceBean;
  private final VolumeLifecycle lifecycle;
  private volatile CompletableFuture<Void> beginning = CompletableFuture.completedFuture(null);

  /** No volumes yet, and devices of libmeldsim. The trace is closed with them. */
  public MeldVolumes(MeldConfiguration config, HintSource hints, BlockTrace trace) {
    this(
        config,
        profile -> SimDeviceOpener.ofLibrary(config.nativeLibrary(), profile),
        hints,
        trace);
  }

  public MeldVolumes(
      MeldConfiguration config,
      Function<String, SimDeviceOpener> openers,
      HintSource hints,
      BlockTrace trace) {
    this.traceBean = Publisher.ofBean("MeldTrace-" + trace.name(), trace);
    DatanodeTimeline timeline =
        new DatanodeTimeline(config.trace(), trace.name(), this::timelineDevices);
    this.shared = new MeldVolume.Shared(config, hints, new SimFailures(), trace, timeline);
    this.lifecycle = new VolumeLifecycle(shared, openers);
  }

  public BlockTrace trace() {
    return shared.trace();
  }

  public DatanodeTimeline timeline() {
    return shared.timeline();
  }

  public List<DeviceTimeline> timelineDevices() {
    return lifecycle.volumes().stream()
        .map(volume -> volume.device().device().timeline())
        .distinct()
        .sorted(Comparator.comparing(DeviceTimeline::name))
        .toList();
  }

  public MeldConfiguration config() {
    return shared.config();
  }

  /**
   * A volume that HDFS has, as {@link VolumeLifecycle#open}.
   *
   * @param storageId its storage uuid
   * @param currentDir its {@code current} folder
   */
  public void add(String storageId, File currentDir) throws IOException {
    lifecycle.open(storageId, currentDir);
    lifecycle.activate(storageId);
  }

  /**
   * As {@link #add}, of the volumes that HDFS begins with, by storage uuid: begins to open their
   * devices side by side, and the volumes of each in their order. To be called once.
   */
  public void beginAll(Map<String, File> currentDirs) {
    var byDevice =
        currentDirs.entrySet().stream()
            .collect(Collectors.groupingBy(volume -> lifecycle.deviceName(volume.getValue())));
    CompletableFuture<?>[] opened =
        byDevice.values().stream()
            .map(bound -> CommonCallableSupplier.submit(VolumeLifecycle::start, () -> add(bound)))
            .toArray(CompletableFuture[]::new);
    beginning = CompletableFuture.allOf(opened).thenRun(this::warnOfUnmatched);
  }

  private Void add(List<Map.Entry<String, File>> currentDirs) throws IOException {
    for (Map.Entry<String, File> volume : currentDirs) {
      add(volume.getKey(), volume.getValue());
    }
    return null;
  }

  /** Waits until all devices are open that {@link #beginAll} began to open; throws as they do. */
  public void awaitAll() throws IOException {
    try {
      FutureIO.awaitFuture(beginning);
    } catch (LinkageError e) {
      // As where the dataset does not link, which is in use by now.
      if (shared.config().failFast()) {
        throw new IOException(e);
      }
      notForwarded("The simulated devices do not link with this Hadoop: " + e + ".");
    }
  }

  public VolumeLifecycle lifecycle() {
    return lifecycle;
  }

  /**
   * Compares a volume's blocks from before a restart with the lengths of its replicas; below 0:
   * none.
   */
  public void reconcile(String storageId, String pool, LongUnaryOperator lengths) {
    shared.hints().serve(pool);
    MeldVolume volume = lifecycle.get(storageId);
    if (volume != null && volume.blocks() != null) {
      volume.blocks().reconcile(pool, lengths);
    }
  }

  public void poolGone(String pool) {
    lifecycle.volumes().forEach(volume -> volume.poolGone(pool));
  }

  /** A block has a replica on no volume any more. */
  public void gone(String pool, long blockId) {
    BlockKey key = new BlockKey(pool, blockId);
    lifecycle.volumes().forEach(volume -> volume.deleted(key));
  }

  /** Says of which volumes the configuration speaks that HDFS does not have. */
  void warnOfUnmatched() {
    List<File> folders = lifecycle.volumes().stream().map(MeldVolume::root).sorted().toList();
    List<File> unmatched = shared.config().devices().unmatched(folders);
    if (!unmatched.isEmpty()) {
      LOG.warn(
          "{} names what is no volume with a device here: {}. The volumes are {}.",
          MeldKeys.VOLUME_PROFILES,
          unmatched,
          folders);
    }
  }

  /** The simulated side of a volume, or null when it has none. */
  public MeldVolume of(FsVolumeSpi volume) {
    return volume == null ? null : lifecycle.get(volume.getStorageID());
  }

  /** The simulated volume that {@code file} is on, or null. */
  public MeldVolume holding(File file) {
    return lifecycle.volumes().stream()
        .filter(volume -> BlockFiles.pool(volume.currentDir(), file) != null)
        .findFirst()
        .orElse(null);
  }

  /**
   * This thread creates a block: asks how it will be read, for the choice of its volume and for its
   * layout, once and before any lock is held. It creates the block until all calls are closed.
   *
   * <p>Its volume is not chosen yet: the first history that knows its kind decides.
   */
  public Creation create(BlockKey block) {
    Creation present = creation.get();
    if (!present.block.equals(block)) {
      BlockHint hint = shared.hints().of(block.pool(), block.id());
      present =
          new Creation(
              block,
              hint,
              lifecycle.volumes().stream()
                  .map(volume -> volume.policy().decide(hint).pattern())
                  .filter(pattern -> pattern != ReadPattern.AUTO)
                  .findFirst()
                  .orElse(ReadPattern.AUTO));
      creation.set(present);
    }
    present.calls++;
    return present;
  }

  /** A block that a thread creates, by calls of HDFS that may be within one another. */
  public final class Creation implements AutoCloseable {
    private final BlockKey block;
    private final BlockHint hint;
    private final ReadPattern pattern;
    private int calls;

    private Creation(BlockKey block, BlockHint hint, ReadPattern pattern) {
      this.block = block;
      this.hint = hint;
      this.pattern = pattern;
    }

    /** The block is on a volume, which keeps what is known of it; new where it is no copy. */
    public void on(FsVolumeSpi volume, File file, boolean isNew) {
      MeldVolume simulated = of(volume);
      if (calls == 1 && simulated != null) {
        simulated.created(block, hint, file, isNew);
      }
    }

    @Override
    public void close() {
      if (--calls == 0) {
        creation.remove();
      }
    }
  }

  /** A replica will be made of a block that is here already: what is known of it is asked anew. */
  public void renewHint(BlockKey block) {
    shared.hints().of(block.pool(), block.id());
  }

  /** How the block that this thread creates would be read. Under HDFS's lock: only looks. */
  public ReadPattern newBlockPattern() {
    return creation.get().pattern;
  }

  /** The most bytes that this thread's block is expected to get; 0 when that is not known. */
  public long newBlockBytes() {
    return creation.get().hint.expectedBytes();
  }

  public boolean isOptane(FsVolumeSpi volume) {
    MeldVolume simulated = of(volume);
    return simulated != null
        && shared.config().placement().optaneProfiles().contains(simulated.getProfile());
  }

  /** Mean bytes outstanding on the volume's device; 0 where nobody waits for it. */
  public long outstandingBytes(FsVolumeSpi volume) {
    MeldVolume simulated = of(volume);
    return simulated == null ? 0 : simulated.outstandingBytes();
  }

  public void placed(FsVolumeSpi volume, VolumeCounter reason) {
    MeldVolume simulated = of(volume);
    if (simulated != null) {
      simulated.counters().increment(reason);
    }
  }

  /**
   * The block on the device it is on; what is known of its hint where it is on none. Nobody is
   * asked: whoever asks for made-up blocks must not keep the NameNode from those that are written.
   */
  public BlockLayout layout(BlockKey block) {
    for (MeldVolume volume : lifecycle.volumes()) {
      VolumeBlocks blocks = volume.blocks();
      BlockExtent extent = blocks == null ? null : blocks.find(block);
      if (extent != null) {
        int handle = extent.handle();
        String device = volume.getProfile() + (handle > 0 ? ", reclaim unit handle " + handle : "");
        BlockHint hint = extent.hint();
        return layout(
            volume.getVolume(),
            device,
            extent.decision(),
            blocks.io().layout(extent),
            hint,
            volume.known(hint));
      }
    }
    BlockHint known = shared.hints().known(block);
    return known == null
        ? layout("", "", NOT_ASKED, new long[3], BlockHint.NONE, "")
        : layout("", "", HintDecision.of(known), new long[3], known, "");
  }

  private static BlockLayout layout(
      String volume,
      String profile,
      HintDecision decision,
      long[] pages,
      BlockHint hint,
      String known) {
    return new BlockLayout(
        volume,
        profile,
        decision.pattern().text(),
        decision.source().text(),
        decision.reason(),
        pages[0],
        pages[1],
        pages[2],
        hint.kind(),
        hint.parentKind(),
        known);
  }

  public DatanodeReport report() {
    List<DatanodeReport.Volume> reports = new ArrayList<>();
    for (MeldVolume volume : lifecycle.volumes()) {
      reports.add(
          new DatanodeReport.Volume(
              volume.getVolume(),
              volume.profileAndPast(),
              volume.getMode(),
              volume.isHealthy(),
              volume.getLastError(),
              volume.getCounters()));
    }
    reports.sort(Comparator.comparing(DatanodeReport.Volume::volume));
    return new DatanodeReport(reports, shared.hints().counters());
  }

  public void notForwarded(String message) {
    shared.failures().notForwarded(message);
  }

  @Override
  public void close() {
    close(Long.MAX_VALUE);
  }

  /**
   * Closes all, and waits no longer than this for the volumes, those that are being opened
   * included. A second call waits for the first, and finds nothing to do.
   */
  public synchronized void close(long timeoutNs) {
    long begin = System.nanoTime();
    long longestNs = Math.min(timeoutNs, shared.config().waitTimeoutNs());
    beginning.handle((none, e) -> none).completeOnTimeout(null, longestNs, NANOSECONDS).join();
    lifecycle.close(timeoutNs - (System.nanoTime() - begin));
    traceBean.close();
    shared.trace().close();
    shared.timeline().close();
    shared.hints().close();
  }
}
