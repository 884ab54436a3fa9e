package org.hdfsmeld.datanode.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.hadoop.util.functional.CommonCallableSupplier;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.apache.hadoop.util.functional.FutureIO;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.StateCounter;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.SimDevice;

/**
 * What the files of a device's state say: the device as of the newest usable snapshot, and the
 * blocks, by namespace, as of the end of the journal. Of those that changed after the snapshot the
 * device does not have them as they are. The past is empty where it is not known.
 */
public record RecoveredState(
    SimDevice device,
    String past,
    List<StateSnapshot.Namespace> namespaces,
    Map<Integer, Map<BlockKey, BlockRecord>> blocks,
    Set<BlockKey> changed) {

  /** What a snapshot must agree with, and the volume that opens the device. */
  public record Expected(String device, String profile, long slotBytes, String storageId) {}

  /** Begins to read the newest snapshot; what reads any of them. */
  public static FunctionRaisingIOE<Path, StateSnapshot> reader(StateFiles files, long maxBytes) {
    if (files.snapshots().isEmpty()) {
      return file -> StateSnapshot.read(file, maxBytes);
    }
    Path newest = files.snapshots().lastEntry().getValue();
    Future<StateSnapshot> begun =
        CommonCallableSupplier.submit(
            task -> new Thread(task, "meld-state").start(),
            () -> StateSnapshot.read(newest, maxBytes));
    return file ->
        file.equals(newest) ? FutureIO.awaitFuture(begun) : StateSnapshot.read(file, maxBytes);
  }

  /**
   * Reads the files, newest first. One that cannot be used is counted, said, and passed over.
   *
   * @param restorer opens a device of a snapshot
   * @return null when none can be used
   */
  public static RecoveredState read(
      StateFiles files,
      Expected expected,
      FunctionRaisingIOE<Path, StateSnapshot> reader,
      FunctionRaisingIOE<ByteBuffer, SimDevice> restorer,
      SimFailures failures,
      Counters<StateCounter> counters) {
    for (Map.Entry<Long, Path> file : files.snapshots().descendingMap().entrySet()) {
      try {
        StateSnapshot snapshot = reader.apply(file.getValue());
        check(snapshot, expected);
        SimDevice device = restore(snapshot, expected, restorer);
        Collection<Path> journals = files.journals().tailMap(file.getKey()).values();
        return of(snapshot, device, journals, failures, counters);
      } catch (IOException | RuntimeException e) {
        counters.increment(StateCounter.STATE_REJECTED);
        failures.stateRejected(file.getValue(), e);
      }
    }
    return null;
  }

  /** Of a profile that an older version wrote only the restored device tells the keys of today. */
  private static SimDevice restore(
      StateSnapshot snapshot, Expected expected, FunctionRaisingIOE<ByteBuffer, SimDevice> restorer)
      throws IOException {
    SimDevice device = restorer.apply(snapshot.image());
    if (!snapshot.profile().equals(expected.profile())
        && !device.profile().equals(expected.profile())) {
      device.close();
      throw new IOException("the device had another profile");
    }
    return device;
  }

  private static void check(StateSnapshot snapshot, Expected expected) throws IOException {
    if (!snapshot.device().equals(expected.device())) {
      throw new IOException("it is of device '" + snapshot.device() + "'");
    }
    if (snapshot.slotBytes() != expected.slotBytes()) {
      throw new IOException("dfs.blocksize was another");
    }
    boolean own = expected.device().isEmpty();
    if (own
        && snapshot.namespaces().stream()
            .noneMatch(namespace -> namespace.storageId().equals(expected.storageId()))) {
      throw new IOException("it is another volume's, not that of " + expected.storageId());
    }
  }

  private static RecoveredState of(
      StateSnapshot snapshot,
      SimDevice device,
      Collection<Path> journals,
      SimFailures failures,
      Counters<StateCounter> counters) {
    Map<Integer, Map<BlockKey, BlockRecord>> blocks = new ConcurrentHashMap<>();
    Set<BlockKey> changed = new HashSet<>();
    snapshot.blocks().forEach(block -> put(blocks, block));
    for (Path journal : journals) {
      try {
        if (StateJournal.replay(
            journal,
            record -> {
              put(blocks, record);
              changed.add(record.key());
            })) {
          continue;
        }
        counters.increment(StateCounter.STATE_TORN_JOURNALS);
      } catch (IOException e) {
        counters.increment(StateCounter.STATE_REJECTED);
        failures.stateRejected(journal, e);
      }
      // What follows in later journals may build on what is missing here.
      break;
    }
    return new RecoveredState(device, snapshot.past(), snapshot.namespaces(), blocks, changed);
  }

  private static void put(Map<Integer, Map<BlockKey, BlockRecord>> blocks, BlockRecord block) {
    Map<BlockKey, BlockRecord> ofNamespace =
        blocks.computeIfAbsent(block.nsid(), nsid -> new HashMap<>());
    if (block.isGone()) {
      ofNamespace.remove(block.key());
    } else {
      ofNamespace.put(block.key(), block);
    }
  }

  /** The blocks of a namespace that the device has as they are. */
  public List<BlockRecord> intact(int nsid) {
    return blocks.getOrDefault(nsid, Map.of()).values().stream()
        .filter(block -> !changed.contains(block.key()))
        .toList();
  }

  /** The files in these folders; none when they cannot be looked at. */
  public static StateFiles find(
      List<Path> folders, SimFailures failures, Counters<StateCounter> counters) {
    try {
      return StateFiles.find(folders);
    } catch (IOException e) {
      counters.increment(StateCounter.STATE_REJECTED);
      failures.stateRejected(folders.get(0), e);
      return StateFiles.none();
    }
  }
}
