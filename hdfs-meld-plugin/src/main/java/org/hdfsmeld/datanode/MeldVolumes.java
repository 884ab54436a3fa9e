package org.hdfsmeld.datanode;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.DatanodeReport;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.trace.BlockTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The simulated volumes of one DataNode. */
public final class MeldVolumes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MeldVolumes.class);

  /** A block, and what is known of it. */
  private record Creating(BlockKey key, BlockHint hint) {
    static final Creating NOTHING = new Creating(new BlockKey("", 0), BlockHint.NONE);
  }

  private final MeldConfiguration config;
  private final Function<String, SimDeviceOpener> openers;
  private final BlockHints hints;
  private final ThreadLocal<Creating> creating = ThreadLocal.withInitial(() -> Creating.NOTHING);
  private final SimFailures failures = new SimFailures();
  private final BlockTrace trace;
  private final PublishedBean traceBean;
  private final Map<String, MeldVolume> volumes = new ConcurrentHashMap<>();
  private final Map<String, VolumePublisher> publishers = new ConcurrentHashMap<>();

  /**
   * No volumes yet, and devices of libmeldsim.
   *
   * @param trace what the volumes' block I/O can be recorded in; closed with the volumes
   */
  public MeldVolumes(MeldConfiguration config, HintSource hints, BlockTrace trace) {
    this(
        config,
        profile -> () -> NativeSimDevice.open(config.nativeLibrary(), profile),
        hints,
        trace);
  }

  MeldVolumes(MeldConfiguration config, SimDeviceOpener opener) {
    this(config, profile -> opener, HintSource.NONE);
  }

  /** Volumes whose I/O is not recorded. */
  MeldVolumes(
      MeldConfiguration config, Function<String, SimDeviceOpener> openers, HintSource hints) {
    this(config, openers, hints, config.trace().newTrace("none"));
  }

  /** Devices by their profiles. */
  MeldVolumes(
      MeldConfiguration config,
      Function<String, SimDeviceOpener> openers,
      HintSource hints,
      BlockTrace trace) {
    this.config = config;
    this.openers = openers;
    this.hints = new BlockHints(hints, AutomaticHints.BY_SIZE);
    this.trace = trace;
    this.traceBean = PublishedBean.register("MeldTrace-" + trace.name(), trace);
  }

  /** What the volumes' block I/O can be recorded in. */
  public BlockTrace trace() {
    return trace;
  }

  /** The configuration the volumes were made with. */
  public MeldConfiguration config() {
    return config;
  }

  /**
   * Gives a volume its device and publishes it. Does nothing when it has one.
   *
   * @param storageId the volume's storage uuid
   * @param currentDir its {@code current} folder
   * @throws MeldConfigurationException when the device's profile is unknown or invalid
   * @throws IOException when the device cannot be opened and the configuration asks for fail-fast
   */
  public synchronized void add(String storageId, File currentDir) throws IOException {
    if (volumes.containsKey(storageId)) {
      return;
    }
    String profile = config.profileOf(MeldVolume.root(currentDir));
    MeldVolume volume =
        new MeldVolume(
            storageId, currentDir, config, openers.apply(profile), failures, hints, trace);
    try {
      volume.change(config.mode(), config.timeDilation());
    } catch (SimException e) {
      if (e.status() == SimStatus.PROFILE) {
        volume.close();
        throw new MeldConfigurationException(
            config.isBound(MeldVolume.root(currentDir))
                ? MeldKeys.VOLUME_PROFILES
                : MeldKeys.PROFILE,
            profile,
            e.getMessage() + "; correct it or use another");
      }
      if (config.failFast()) {
        volume.close();
        throw new IOException(
            "The simulated device of volume "
                + volume.getVolume()
                + " cannot be used and "
                + MeldKeys.FAIL_FAST
                + " is true: "
                + e.getMessage(),
            e);
      }
      failures.notStarted(e.getMessage());
    }
    volumes.put(storageId, volume);
    LOG.info(
        "Volume {}: simulated device {}, mode {}, {}",
        volume.getVolume(),
        volume.getProfile(),
        volume.getMode(),
        volume.isHealthy() ? "in service" : "out of service");
    VolumePublisher publisher = new VolumePublisher(volume);
    publisher.open();
    publishers.put(storageId, publisher);
  }

  /** Closes the volumes whose storage uuid is not in {@code storageIds}. */
  public synchronized void retain(Set<String> storageIds) {
    for (String storageId : Set.copyOf(volumes.keySet())) {
      if (!storageIds.contains(storageId)) {
        remove(storageId);
      }
    }
  }

  private void remove(String storageId) {
    VolumePublisher publisher = publishers.remove(storageId);
    if (publisher != null) {
      publisher.close();
    }
    MeldVolume volume = volumes.remove(storageId);
    if (volume != null) {
      volume.close();
    }
  }

  /**
   * Deallocates the blocks of a pool that exist no more.
   *
   * @param storageId the volume
   * @param exists whether a block id is a replica on that volume
   */
  public void retainBlocks(String storageId, String pool, Predicate<Long> exists) {
    MeldVolume volume = volumes.get(storageId);
    if (volume != null && volume.blocks() != null) {
      volume.blocks().retain(pool, exists);
    }
  }

  /** A block has a replica on no volume any more. */
  public void gone(String pool, long blockId) {
    BlockKey key = new BlockKey(pool, blockId);
    for (MeldVolume volume : volumes.values()) {
      volume.deleted(key);
    }
  }

  /** A block came onto a volume by a hard link. */
  public void linked(String storageId, String pool, long blockId, long length) {
    MeldVolume volume = volumes.get(storageId);
    if (volume != null) {
      volume.linked(new BlockKey(pool, blockId), length);
    }
  }

  /** The simulated side of a volume, or null when it has none. */
  MeldVolume of(FsVolumeSpi volume) {
    return volume == null ? null : volumes.get(volume.getStorageID());
  }

  /** The simulated volume that {@code file} is on, or null. */
  MeldVolume holding(File file) {
    for (MeldVolume volume : volumes.values()) {
      if (BlockFiles.pool(volume.currentDir(), file) != null) {
        return volume;
      }
    }
    return null;
  }

  /**
   * This thread is about to create a block: asks how it will be read, for the choice of its volume
   * and for its layout. {@link #created} ends it.
   */
  public void creates(String pool, long blockId) {
    creating.set(new Creating(new BlockKey(pool, blockId), hints.of(pool, blockId)));
  }

  /** This thread's block has its volume. */
  public void created() {
    creating.remove();
  }

  /** What is known of how the block will be read that this thread creates. */
  HintDecision creatingDecision() {
    Creating block = creating.get();
    // Its volume is not chosen yet: the first history that knows its directory decides.
    for (MeldVolume volume : volumes.values()) {
      HintDecision decision = volume.decide(block.key(), block.hint());
      if (decision.pattern() != ReadPattern.AUTO) {
        return decision;
      }
    }
    return hints.decide(block.key(), block.hint());
  }

  /** What is known of the block that this thread creates. */
  BlockHint creating() {
    return creating.get().hint();
  }

  /** Whether the volume's device counts as Optane. */
  boolean isOptane(FsVolumeSpi volume) {
    MeldVolume simulated = of(volume);
    return simulated != null
        && config.placement().optaneProfiles().contains(simulated.getProfile());
  }

  /** Mean bytes outstanding on the volume's device; 0 where nobody waits for it. */
  long outstandingBytes(FsVolumeSpi volume) {
    MeldVolume simulated = of(volume);
    return simulated == null ? 0 : simulated.outstandingBytes();
  }

  /** A new block was given to the volume. */
  void placed(FsVolumeSpi volume, PlacementReason reason) {
    MeldVolume simulated = of(volume);
    if (simulated != null) {
      simulated.counters().placed(reason);
    }
  }

  /** The block on the device it is on; what is known of its hint where it is on none. */
  BlockLayout layout(BlockKey block) {
    for (MeldVolume volume : volumes.values()) {
      VolumeBlocks blocks = volume.blocks();
      BlockExtent extent = blocks == null ? null : blocks.find(block);
      if (extent != null) {
        HintDecision settled = volume.rule().settle(extent.decision(), extent.mappedBytes());
        return layout(volume.getVolume(), volume.getProfile(), settled, blocks.layout(extent));
      }
    }
    return layout("", "", hints.decide(block, hints.of(block.pool(), block.id())), new long[3]);
  }

  private static BlockLayout layout(
      String volume, String profile, HintDecision decision, long[] pages) {
    return new BlockLayout(
        volume,
        profile,
        decision.pattern().text(),
        decision.source().text(),
        decision.reason(),
        pages[0],
        pages[1],
        pages[2]);
  }

  /** All volumes and what they count. */
  DatanodeReport report() {
    List<DatanodeReport.Volume> reports = new ArrayList<>();
    for (MeldVolume volume : volumes.values()) {
      reports.add(
          new DatanodeReport.Volume(
              volume.getVolume(),
              volume.getProfile(),
              volume.getMode(),
              volume.isHealthy(),
              volume.getLastError(),
              volume.getCounters()));
    }
    reports.sort(Comparator.comparing(DatanodeReport.Volume::volume));
    return new DatanodeReport(reports, hints.counters());
  }

  /** Block I/O cannot be forwarded, on none of the volumes. */
  void notForwarded(String message) {
    failures.notForwarded(message);
  }

  @Override
  public synchronized void close() {
    retain(Set.of());
    traceBean.close();
    trace.close();
    hints.close();
  }
}
