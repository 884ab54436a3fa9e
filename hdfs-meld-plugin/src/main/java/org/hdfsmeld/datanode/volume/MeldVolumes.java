package org.hdfsmeld.datanode.volume;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.device.MeldDevice;
import org.hdfsmeld.datanode.device.MeldDeviceBean;
import org.hdfsmeld.datanode.hint.AutomaticHints;
import org.hdfsmeld.datanode.hint.BlockHints;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.VolumeBlocks;
import org.hdfsmeld.datanode.metrics.PlacementReason;
import org.hdfsmeld.datanode.metrics.PublishedBean;
import org.hdfsmeld.datanode.metrics.Publisher;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.DatanodeReport;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
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

  /** A block, and what is known of it. */
  private record Creating(BlockKey key, BlockHint hint) {
    static final Creating NOTHING = new Creating(new BlockKey("", 0), BlockHint.NONE);
  }

  private final MeldConfiguration config;
  private final Function<String, SimDeviceOpener> openers;
  private final BlockHints hints;
  private final ThreadLocal<Creating> creating = ThreadLocal.withInitial(() -> Creating.NOTHING);
  private final SimFailures failures = new SimFailures();
  private final Map<String, MeldDevice> shared = new HashMap<>();
  private final BlockTrace trace;
  private final PublishedBean traceBean;
  private final Map<String, MeldVolume> volumes = new ConcurrentHashMap<>();
  private final Map<String, Publisher> publishers = new ConcurrentHashMap<>();

  /**
   * No volumes yet, and devices of libmeldsim.
   *
   * @param trace what the volumes' block I/O can be recorded in; closed with the volumes
   */
  public MeldVolumes(MeldConfiguration config, HintSource hints, BlockTrace trace) {
    this(
        config,
        profile -> SimDeviceOpener.ofLibrary(config.nativeLibrary(), profile),
        hints,
        trace);
  }

  public MeldVolumes(MeldConfiguration config, SimDeviceOpener opener) {
    this(config, profile -> opener, HintSource.NONE);
  }

  /** Volumes whose I/O is not recorded. */
  public MeldVolumes(
      MeldConfiguration config, Function<String, SimDeviceOpener> openers, HintSource hints) {
    this(config, openers, hints, config.trace().newTrace("none"));
  }

  /** Devices by their profiles. */
  public MeldVolumes(
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
    File root = MeldVolume.root(currentDir);
    VolumeBinding binding = config.devices().of(root);
    MeldDevice device = device(binding, root);
    MeldVolume volume =
        new MeldVolume(storageId, currentDir, config, device, failures, hints, trace);
    try {
      if (device.volumes().isEmpty()) {
        volume.change(config.mode(), config.timeDilation());
      } else {
        // The mode stays what it is, which JMX may have changed.
        volume.attach();
      }
    } catch (SimException e) {
      refuse(e, binding, root, volume);
    }
    // Makes the table of its blocks, with those from before a restart.
    volume.blocks();
    volumes.put(storageId, volume);
    LOG.info(
        "Volume {}: simulated device {}, mode {}, {}",
        volume.getVolume(),
        volume.getProfile(),
        volume.getMode(),
        volume.isHealthy() ? "in service" : "out of service");
    publish(storageId, Publisher.of(volume, storageId));
    if (binding.isShared() && device.volumes().size() == 1) {
      publish(
          device.name(), Publisher.of(new MeldDeviceBean(device, binding.profile()), storageId));
    }
  }

  /**
   * Checks what a volume is bound to, before it is added to a DataNode that runs.
   *
   * @param root the volume's folder
   * @throws MeldConfigurationException when its device, which is open, has no such NVM set
   */
  public synchronized void check(File root) throws IOException {
    VolumeBinding binding = config.devices().of(root);
    MeldDevice present = shared.get(binding.device());
    try {
      if (present != null) {
        present.checkSet(binding.set());
      }
    } catch (SimException e) {
      throw unknownSet(binding, root, e);
    }
  }

  private static MeldConfigurationException unknownSet(
      VolumeBinding binding, File root, SimException e) {
    return new MeldConfigurationException(
        MeldKeys.VOLUME_PROFILES,
        root + "=@" + binding.device() + "/" + binding.set(),
        e.getMessage());
  }

  private void publish(String id, Publisher publisher) {
    publisher.open();
    publishers.put(id, publisher);
  }

  private void withdraw(String id) {
    Publisher publisher = publishers.remove(id);
    if (publisher != null) {
      publisher.close();
    }
  }

  /** The device that the volume is bound to; it may have others already. */
  private MeldDevice device(VolumeBinding binding, File root) {
    SimDeviceOpener opener = openers.apply(binding.profile());
    if (!binding.isShared()) {
      return new MeldDevice(root.getPath(), false, config, opener, failures);
    }
    MeldDevice present = shared.get(binding.device());
    if (present == null || present.isClosed()) {
      present = new MeldDevice(binding.device(), true, config, opener, failures);
      shared.put(binding.device(), present);
    }
    return present;
  }

  /** The device cannot be used: throws what stops the DataNode, or says that it goes on without. */
  private void refuse(SimException e, VolumeBinding binding, File root, MeldVolume volume)
      throws IOException {
    boolean mayLackSet = binding.set() != VolumeBinding.ANY_SET;
    MeldConfigurationException wrong =
        switch (e.status()) {
          case SimStatus.PROFILE ->
              new MeldConfigurationException(
                  config.devices().profileKey(root),
                  binding.profile(),
                  e.getMessage() + "; correct it or use another");
          case SimStatus.ARGUMENT -> mayLackSet ? unknownSet(binding, root, e) : null;
          default -> null;
        };
    if (wrong == null && !config.failFast()) {
      failures.notStarted(e);
      return;
    }
    volume.close();
    throw wrong != null
        ? wrong
        : new IOException(
            "The simulated device of volume "
                + root
                + " cannot be used and "
                + MeldKeys.FAIL_FAST
                + " is true: "
                + e.getMessage(),
            e);
  }

  /** Takes the volumes out whose storage uuid is not in {@code storageIds}. */
  public synchronized void retain(Set<String> storageIds) {
    for (String storageId : Set.copyOf(volumes.keySet())) {
      if (!storageIds.contains(storageId)) {
        end(storageId, MeldVolume::remove);
      }
    }
  }

  private void end(String storageId, Consumer<MeldVolume> end) {
    withdraw(storageId);
    MeldVolume volume = volumes.remove(storageId);
    end.accept(volume);
    if (volume.device().device().isClosed()) {
      withdraw(volume.getDevice());
    }
  }

  /**
   * Compares the device with the replicas of a pool on a volume.
   *
   * @param storageId the volume
   * @param lengths length in bytes of a block's replica on that volume, below 0 when there is none
   */
  public void reconcile(String storageId, String pool, LongUnaryOperator lengths) {
    MeldVolume volume = volumes.get(storageId);
    if (volume != null && volume.blocks() != null) {
      volume.blocks().reconcile(pool, lengths);
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
  public void linked(String storageId, String pool, long blockId, File file) {
    MeldVolume volume = volumes.get(storageId);
    if (volume != null) {
      volume.linked(new BlockKey(pool, blockId), file);
    }
  }

  /** The simulated side of a volume, or null when it has none. */
  public MeldVolume of(FsVolumeSpi volume) {
    return volume == null ? null : volumes.get(volume.getStorageID());
  }

  /** The simulated volume that {@code file} is on, or null. */
  public MeldVolume holding(File file) {
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

  /** Whether this thread is creating the block already. */
  public boolean isCreating(String pool, long blockId) {
    return creating.get().key().equals(new BlockKey(pool, blockId));
  }

  /** This thread's block has its volume. */
  public void created() {
    creating.remove();
  }

  /** What is known of how the block will be read that this thread creates. */
  public HintDecision creatingDecision() {
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
  public BlockHint creating() {
    return creating.get().hint();
  }

  /** Whether the volume's device counts as Optane. */
  public boolean isOptane(FsVolumeSpi volume) {
    MeldVolume simulated = of(volume);
    return simulated != null
        && config.placement().optaneProfiles().contains(simulated.getProfile());
  }

  /** Mean bytes outstanding on the volume's device; 0 where nobody waits for it. */
  public long outstandingBytes(FsVolumeSpi volume) {
    MeldVolume simulated = of(volume);
    return simulated == null ? 0 : simulated.outstandingBytes();
  }

  /** A new block was given to the volume. */
  public void placed(FsVolumeSpi volume, PlacementReason reason) {
    MeldVolume simulated = of(volume);
    if (simulated != null) {
      simulated.counters().placed(reason);
    }
  }

  /**
   * The block on the device it is on; what is known of its hint where it is on none. Nobody is
   * asked: whoever asks for made-up blocks must not keep the NameNode from those that are written.
   */
  public BlockLayout layout(BlockKey block) {
    for (MeldVolume volume : volumes.values()) {
      VolumeBlocks blocks = volume.blocks();
      BlockExtent extent = blocks == null ? null : blocks.find(block);
      if (extent != null) {
        HintDecision settled = volume.rule().settle(extent.decision(), extent.mappedBytes());
        return layout(volume.getVolume(), volume.getProfile(), settled, blocks.layout(extent));
      }
    }
    BlockHint known = hints.known(block);
    HintDecision decision = known == null ? NOT_ASKED : hints.decide(block, known);
    return layout("", "", decision, new long[3]);
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
  public DatanodeReport report() {
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
  public void notForwarded(String message) {
    failures.notForwarded(message);
  }

  @Override
  public synchronized void close() {
    for (String storageId : Set.copyOf(volumes.keySet())) {
      end(storageId, MeldVolume::close);
    }
    traceBean.close();
    trace.close();
    hints.close();
  }
}
