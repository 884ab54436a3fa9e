package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.common.Storage;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.DataStorage;
import org.apache.hadoop.hdfs.server.datanode.ReplicaHandler;
import org.apache.hadoop.hdfs.server.datanode.ReplicaInfo;
import org.apache.hadoop.hdfs.server.datanode.StorageLocation;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeReference;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;
import org.apache.hadoop.util.ShutdownHookManager;
import org.hdfsmeld.datanode.hadoop.StartProbe;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.datanode.volume.SimulatedDataset;
import org.hdfsmeld.model.BlockKey;

/**
 * Hadoop's dataset, which keeps the set of simulated volumes and their blocks in step with its own.
 * Block I/O itself is seen elsewhere, by the DataNode's file I/O provider.
 *
 * <p>In this package because {@code FsDatasetImpl} can be extended only here. Not public: javac
 * gives a public class a bridge for each public method of its package-private superclass, with the
 * types of the Hadoop it is compiled with. The DataNode asks the class for its methods, and where
 * Hadoop lacks one of these types that ends it.
 */
class MeldFsDataset extends FsDatasetImpl implements SimulatedDataset {
  /** Before that of Hadoop's file systems, as all that still uses HDFS. */
  private static final int EXIT_PRIORITY = FileSystem.SHUTDOWN_HOOK_PRIORITY + 10;

  private final MeldVolumes simulated;

  /** SIGTERM ends a DataNode without {@link #shutdown}. */
  private final Runnable atExit;

  private final AtomicBoolean probed = new AtomicBoolean();

  /** The volume that this thread opens and HDFS does not have yet. */
  private final ThreadLocal<String> opened = new ThreadLocal<>();

  /** Builds the dataset as stock HDFS does, while volumes may still get their devices. */
  MeldFsDataset(DataNode datanode, DataStorage storage, Configuration conf, MeldVolumes simulated)
      throws IOException {
    super(datanode, storage, tracked(conf));
    this.simulated = simulated;
    long stopNs = stopNs(System.getenv("HADOOP_STOP_TIMEOUT"));
    this.atExit = () -> simulated.close(stopNs);
    ShutdownHookManager hooks = ShutdownHookManager.get();
    if (!hooks.isShutdownInProgress()) {
      long deadlineNs = stopNs + TimeUnit.SECONDS.toNanos(1);
      hooks.addShutdownHook(atExit, EXIT_PRIORITY, deadlineNs, TimeUnit.NANOSECONDS);
    }
  }

  /** After SIGTERM Hadoop waits for so many seconds, and kills; a second is for its own hooks. */
  static long stopNs(String stopTimeout) {
    boolean isNumber = stopTimeout != null && stopTimeout.matches("\\d{1,6}");
    long seconds = isNumber ? Long.parseLong(stopTimeout) : 5;
    return TimeUnit.SECONDS.toNanos(Math.max(1, seconds - 1));
  }

  /**
   * Has replicas in memory tracked so that their deletion is seen, unless a tracker is chosen. In
   * place: the DataNode's own configuration is the one that is reconfigured.
   */
  static Configuration tracked(Configuration conf) {
    String key = DFSConfigKeys.DFS_DATANODE_RAM_DISK_REPLICA_TRACKER_KEY;
    String own = MeldRamDiskReplicaTracker.class.getName();
    String chosen = conf.getTrimmed(key, "");
    if (chosen.isEmpty()) {
      conf.set(key, own);
    } else if (!chosen.equals(own)) {
      LOG.warn(
          "{} is {}: simulated devices keep the copies of replicas in memory that are deleted."
              + " Remove the key to have them deallocated.",
          key,
          chosen);
    }
    return conf;
  }

  /** Opens the device before HDFS has the volume, which is refused with it. */
  @Override
  public FsVolumeImpl createFsVolume(
      String storageUuid, Storage.StorageDirectory sd, StorageLocation location)
      throws IOException {
    FsVolumeImpl volume = super.createFsVolume(storageUuid, sd, location);
    // Null while the superclass is made, whose volumes are being opened.
    if (simulated != null && hasDevice(volume.getStorageType())) {
      try {
        simulated.lifecycle().open(storageUuid, volume.getCurrentDir());
      } catch (IOException | RuntimeException e) {
        volume.shutdown();
        sd.unlock();
        throw e;
      }
      opened.set(storageUuid);
    }
    return volume;
  }

  @Override
  public void addVolume(StorageLocation location, List<NamespaceInfo> nsInfos) throws IOException {
    try {
      super.addVolume(location, nsInfos);
      if (opened.get() != null) {
        simulated.lifecycle().activate(opened.get());
      }
    } catch (IOException | RuntimeException e) {
      if (opened.get() != null) {
        simulated.lifecycle().rollBack(opened.get());
      }
      throw e;
    } finally {
      opened.remove();
    }
    // It may have failed before it was active.
    simulated.lifecycle().retain(this::storageIds);
    for (NamespaceInfo nsInfo : nsInfos) {
      reconcile(nsInfo.getBlockPoolID());
    }
  }

  @Override
  public void removeVolumes(Collection<StorageLocation> storageLocsToRemove, boolean clearFailure) {
    super.removeVolumes(storageLocsToRemove, clearFailure);
    simulated.lifecycle().retain(this::storageIds);
  }

  @Override
  public void handleVolumeFailures(Set<FsVolumeSpi> failedVolumes) {
    super.handleVolumeFailures(failedVolumes);
    simulated.lifecycle().retain(this::storageIds);
  }

  @Override
  public MeldVolumes simulated() {
    return simulated;
  }

  /** What 3.3.6 and 3.4.0 call; the later ones call the one below, and go on to it from here. */
  @Override
  public ReplicaHandler createRbw(
      StorageType storageType, String storageId, ExtendedBlock b, boolean allowLazyPersist)
      throws IOException {
    try (MeldVolumes.Creation creation = simulated.create(key(b))) {
      return created(creation, super.createRbw(storageType, storageId, b, allowLazyPersist), true);
    }
  }

  // In no lambda: the older versions lack what this calls, and never call this.
  @Override
  public ReplicaHandler createRbw(
      StorageType storageType,
      String storageId,
      ExtendedBlock b,
      boolean allowLazyPersist,
      long newGS)
      throws IOException {
    try (MeldVolumes.Creation creation = simulated.create(key(b))) {
      return created(
          creation, super.createRbw(storageType, storageId, b, allowLazyPersist, newGS), true);
    }
  }

  @Override
  public ReplicaHandler createTemporary(
      StorageType storageType, String storageId, ExtendedBlock b, boolean isTransfer)
      throws IOException {
    try (MeldVolumes.Creation creation = simulated.create(key(b))) {
      return created(creation, super.createTemporary(storageType, storageId, b, isTransfer), false);
    }
  }

  private static ReplicaHandler created(
      MeldVolumes.Creation creation, ReplicaHandler handler, boolean isNew) throws IOException {
    ReplicaInfo replica = handler.getReplica().getReplicaInfo();
    creation.on(replica.getVolume(), new File(replica.getBlockURI()), isNew);
    return handler;
  }

  private static BlockKey key(ExtendedBlock block) {
    return new BlockKey(block.getBlockPoolId(), block.getBlockId());
  }

  @Override
  public ReplicaInfo moveBlockAcrossStorage(
      ExtendedBlock block, StorageType targetStorageType, String targetStorageId)
      throws IOException {
    simulated.renewHint(key(block));
    return super.moveBlockAcrossStorage(block, targetStorageType, targetStorageId);
  }

  @Override
  public ReplicaInfo moveBlockAcrossVolumes(ExtendedBlock block, FsVolumeSpi destination)
      throws IOException {
    simulated.renewHint(key(block));
    return super.moveBlockAcrossVolumes(block, destination);
  }

  @Override
  ReplicaInfo moveBlock(
      ExtendedBlock block,
      ReplicaInfo replicaInfo,
      FsVolumeReference volumeRef,
      boolean moveBlockToLocalMount)
      throws IOException {
    ReplicaInfo moved = super.moveBlock(block, replicaInfo, volumeRef, moveBlockToLocalMount);
    MeldVolume target = simulated.of(volumeRef.getVolume());
    if (moveBlockToLocalMount && target != null) {
      target.linked(key(block), new File(moved.getBlockURI()));
    }
    return moved;
  }

  @Override
  public void checkAndUpdate(String bpid, FsVolumeSpi.ScanInfo scanInfo) throws IOException {
    super.checkAndUpdate(bpid, scanInfo);
    if (volumeMap.get(bpid, scanInfo.getBlockId()) == null) {
      simulated.gone(bpid, scanInfo.getBlockId());
    }
  }

  /** What HDFS calls when a reader finds no files; 3.3.6 lacks it, and deletes the replica. */
  @Override
  public void invalidateMissingBlock(String bpid, Block block) {
    ReplicaInfo replica = volumeMap.get(bpid, block);
    super.invalidateMissingBlock(bpid, block);
    if (replica != null && volumeMap.get(bpid, block) == null && !replica.blockDataExists()) {
      simulated.gone(bpid, block.getBlockId());
    }
  }

  @Override
  public void addBlockPool(String bpid, Configuration conf) throws IOException {
    try {
      super.addBlockPool(bpid, conf);
    } finally {
      // No client comes before this. HDFS goes on with the pool though a volume has failed.
      simulated.awaitAll();
      simulated.lifecycle().retain(this::storageIds);
    }
    reconcile(bpid);
    probe(bpid);
  }

  /** Tries out, once, whether block I/O is seen at all. */
  private void probe(String bpid) {
    for (FsVolumeImpl volume : getVolumeList()) {
      MeldVolume device = simulated.of(volume);
      if (device != null && probed.compareAndSet(false, true)) {
        try {
          String unseen = StartProbe.run(volume, volume.getTmpDir(bpid));
          if (unseen != null) {
            device.unseen(unseen);
          }
        } catch (IOException | RuntimeException | LinkageError e) {
          LOG.warn("Whether block I/O on {} is seen could not be tried", volume, e);
        }
      }
    }
  }

  @Override
  public void deleteBlockPool(String bpid, boolean force) throws IOException {
    super.deleteBlockPool(bpid, force);
    simulated.poolGone(bpid);
  }

  @Override
  public void clearTrash(String bpid) {
    List<Long> blocks = new ArrayList<>();
    for (FsVolumeImpl volume : getVolumeList()) {
      blocks.addAll(Trash.blocks(volume.getCurrentDir(), bpid));
    }
    super.clearTrash(bpid);
    for (long block : blocks) {
      if (volumeMap.get(bpid, block) == null) {
        simulated.gone(bpid, block);
      }
    }
  }

  @Override
  public void finalizeBlock(ExtendedBlock b, boolean fsyncDir) throws IOException {
    super.finalizeBlock(b, fsyncDir);
    ReplicaInfo replica = volumeMap.get(b.getBlockPoolId(), b.getBlockId());
    MeldVolume volume = replica == null ? null : simulated.of(replica.getVolume());
    if (volume != null) {
      volume.finalized(key(b), replica.getNumBytes());
    }
  }

  @Override
  public void shutdown() {
    super.shutdown();
    if (!ShutdownHookManager.get().isShutdownInProgress()) {
      ShutdownHookManager.get().removeShutdownHook(atExit);
    }
    simulated.close();
  }

  private Set<String> storageIds() {
    return getVolumeList().stream().map(FsVolumeImpl::getStorageID).collect(Collectors.toSet());
  }

  /** Memory and remote storage have no flash under them. */
  static boolean hasDevice(StorageType type) {
    return !type.isTransient() && type != StorageType.PROVIDED;
  }

  /** Compares what devices had before a restart with the replicas, those in the trash included. */
  private void reconcile(String bpid) {
    for (FsVolumeImpl volume : getVolumeList()) {
      String storageId = volume.getStorageID();
      simulated.reconcile(
          storageId,
          bpid,
          blockId -> {
            ReplicaInfo replica = volumeMap.get(bpid, blockId);
            return replica != null && storageId.equals(replica.getStorageUuid())
                ? replica.getNumBytes()
                : Trash.length(volume.getCurrentDir(), bpid, blockId);
          });
    }
  }
}
