package org.hdfsmeld.datanode.device;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.config.Precondition;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.MeldDeviceMXBean;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.StateCounter;
import org.hdfsmeld.datanode.state.BlockRecord;
import org.hdfsmeld.datanode.state.DeviceState;
import org.hdfsmeld.datanode.state.ImageBuffer;
import org.hdfsmeld.datanode.state.RecoveredState;
import org.hdfsmeld.datanode.state.StateFiles;
import org.hdfsmeld.datanode.state.StateSnapshot;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;

/**
 * One simulated device with the volumes on it: one volume, or several in namespaces of their own.
 *
 * <p>Mode, dilation and health are the device's, so all its volumes have the same. It is opened
 * when it is first needed, so mode {@code off} needs no library, and closed when its last volume
 * has gone.
 */
public final class SharedDevice implements MeldDeviceMXBean {
  /** Thin address space for this many full blocks on each volume. */
  private static final long SLOTS = 1 << 20;

  private static final long SLOT_ALIGNMENT = 64 << 10;
  public static final String COUNTERS_PENDING = "counters_pending";

  /** Where the blocks of a volume lie on the device. */
  public interface BlockTable {
    List<BlockRecord> records();

    /**
     * Takes over the blocks from before a restart, as they lie or to be laid out anew; how many
     * those.
     */
    int restore(Collection<BlockRecord> records, Predicate<BlockKey> intact);
  }

  private final String name;

  /** Of the volumes on it; its device has no name when it is a volume's own. */
  private final VolumeBinding binding;

  private final MeldConfiguration config;
  private final SimDeviceOpener opener;
  private final List<VolumePort> volumes = new CopyOnWriteArrayList<>();

  private final SimFailures failures;
  private final Counters<StateCounter> stateCounters = new Counters<>(StateCounter.class);

  /** A namespace, and the NVM set that its volume was bound to. */
  private record Placed(NamespaceInfo namespace, int set) {}

  /** By storage id; a volume that comes back gets its own again. */
  private final Map<String, Placed> namespaces = new ConcurrentHashMap<>();

  /** Namespaces that were made for volumes to come, by the NVM sets these are bound to. */
  private final Map<Integer, Queue<NamespaceInfo>> prepared = new HashMap<>();

  private final Map<Integer, BlockTable> blocks = new ConcurrentHashMap<>();

  /** The thread that writes the files of the device's state and timeline. */
  final ScheduledExecutorService files =
      Executors.newSingleThreadScheduledExecutor(this::newFilesThread);

  private volatile RecoveredState recovered;
  private volatile DeviceState state;
  private volatile String lastRoot;
  private volatile MeldMode mode = MeldMode.OFF;
  private volatile double timeDilation;
  private volatile boolean healthy = true;
  private volatile boolean closed;
  private volatile boolean started;

  /** Whether the mode was changed since the device began to work. */
  private volatile boolean switched;

  /** What the open device had been through before it had blocks. */
  private volatile Precondition past = Precondition.NONE;

  /** Null before the device is open. */
  private volatile DeviceThread queue;

  private final DeviceTimeline timeline = new DeviceTimeline(this);
  final DeviceCounters counters = new DeviceCounters();
  private volatile String lastError = "";

  /** A device that is not open, in mode {@code off}, without volumes. */
  public SharedDevice(
      String name,
      VolumeBinding binding,
      MeldConfiguration config,
      SimDeviceOpener opener,
      SimFailures failures) {
    this.name = name;
    this.binding = binding;
    this.failures = failures;
    this.config = config;
    this.opener = opener;
    this.timeDilation = config.timeDilation();
  }

  private Thread newFilesThread(Runnable task) {
    Thread thread = new Thread(task, "meld-files-" + name);
    thread.setDaemon(true);
    return thread;
  }

  /** A shared device's name, or the folder of the only volume on it. */
  @Override
  public String getDevice() {
    return name;
  }

  @Override
  public String getProfile() {
    return binding.profile();
  }

  @Override
  public List<String> getVolumes() {
    return volumes.stream().map(VolumePort::volume).toList();
  }

  /** Opens further devices like this one. */
  public SimDeviceOpener opener() {
    return opener;
  }

  public DeviceTimeline timeline() {
    return timeline;
  }

  MeldMode mode() {
    return mode;
  }

  @Override
  public String getMode() {
    return mode.text();
  }

  @Override
  public double getTimeDilation() {
    return timeDilation;
  }

  @Override
  public boolean isHealthy() {
    return healthy;
  }

  @Override
  public String getLastError() {
    return lastError;
  }

  /** The queue of the open device while it is in service, else null. */
  DeviceThread usable() {
    return healthy ? queue : null;
  }

  /** Mean bytes outstanding; 0 where nobody waits for the device or it is out of service. */
  public long outstandingBytes() {
    return mode == MeldMode.REAL_TIME && healthy ? counters.outstandingBytes() : 0;
  }

  /**
   * A volume comes onto the device; it gets its namespace now, or when the device is opened.
   *
   * @throws SimException when the device refuses the namespace
   */
  synchronized void addVolume(VolumePort volume) throws SimException {
    if (volumes.contains(volume)) {
      return;
    }
    volumes.add(volume);
    if (usable() != null) {
      volume.opened(namespace(volume));
    }
  }

  /** Begins to work in the configured mode, unless it has begun; throws as {@link #setMode}. */
  public synchronized void start() throws SimException {
    if (!started) {
      setMode(config.mode(), config.timeDilation());
    }
  }

  /**
   * A volume leaves the device, which keeps no file on its disk open any more. The last one closes
   * it: waiters return, later calls do nothing.
   */
  synchronized void removeVolume(VolumePort volume) {
    if (!volumes.remove(volume)) {
      return;
    }
    if (!volumes.isEmpty()) {
      if (state != null) {
        state.foldersChanged();
      }
      return;
    }
    closed = true;
    healthy = false;
    lastRoot = volume.volume();
    if (state != null) {
      state.close(config.waitTimeoutNs());
    }
    files.shutdown();
    DeviceThread target = queue;
    if (target != null) {
      target.close();
      target.awaitClosed(config.waitTimeoutNs());
    }
  }

  /** The table of a volume's blocks: gets those from before a restart, and is kept from now on. */
  public void addBlocks(int nsid, BlockTable table) {
    // A snapshot has the records here or there.
    synchronized (blocks) {
      RecoveredState from = recovered;
      Map<BlockKey, BlockRecord> records = from == null ? null : from.blocks().get(nsid);
      if (records != null) {
        int relaid = table.restore(records.values(), key -> !from.changed().contains(key));
        stateCounters.add(StateCounter.STATE_RELAID_BLOCKS, relaid);
        stateCounters.add(StateCounter.STATE_RESTORED_BLOCKS, records.size() - relaid);
        from.blocks().remove(nsid);
      }
      blocks.put(nsid, table);
    }
  }

  /** A block in one of the tables has changed; as {@link DeviceState#changed}. */
  public boolean changed(DeviceState.Block block) {
    DeviceState journal = state;
    return journal == null || journal.changed(block);
  }

  public List<VolumePort> volumes() {
    return List.copyOf(volumes);
  }

  /**
   * Changes mode and dilation, opening the device first if it is needed now.
   *
   * @throws SimException when it cannot be opened or refuses the mode; the mode is set all the same
   *     and the device out of service
   */
  public synchronized void setMode(MeldMode newMode, double newDilation) throws SimException {
    String problem = MeldConfiguration.dilationProblem(newDilation);
    if (problem != null) {
      throw new IllegalArgumentException("time dilation " + newDilation + ": " + problem);
    }
    timeDilation = newDilation;
    switched |= started && newMode != mode;
    started = true;
    try {
      if (newMode != MeldMode.OFF && queue == null && !closed) {
        open();
      }
      DeviceThread target = usable();
      if (target != null) {
        if (newMode == MeldMode.REAL_TIME && mode != MeldMode.REAL_TIME) {
          // What was written while nobody waited must not sit in the device's buffer, where readers
          // would find it faster than on the flash.
          for (VolumePort volume : volumes) {
            volume.flush();
          }
        }
        target.setMode(newMode == MeldMode.REAL_TIME, newDilation);
      }
    } catch (SimException e) {
      failed(e.getMessage(), true);
      throw e;
    } catch (RuntimeException | Error e) {
      failed(e.toString(), true);
      throw new SimException(e.toString(), e);
    } finally {
      mode = newMode;
      timeline.modeChanged();
    }
  }

  public boolean isSwitched() {
    return switched;
  }

  /** A call failed. If it is for good, {@link #usable} is null from now on. */
  void failed(String reason, boolean forGood) {
    if (forGood) {
      healthy = false;
    }
    lastError = reason;
  }

  /** The device's counters; zeros before it is open, the last known ones once it failed. */
  public Map<String, Long> stats() {
    // Looked at before the counters are read.
    long pending = pending();
    Map<String, Long> byName = counters.device();
    byName.put(COUNTERS_PENDING, pending);
    byName.putAll(stateCounters.values());
    return byName;
  }

  /** 1 while something has been done that the counters do not show yet. */
  public long pending() {
    DeviceThread target = usable();
    return target != null && target.isUnpublished() ? 1 : 0;
  }

  /** The device's counters and the percentiles of its latencies, for people. */
  @Override
  public Map<String, Long> getCounters() {
    Map<String, Long> values = stats();
    values.putAll(counters.latencies());
    return values;
  }

  private void open() throws SimException {
    Watchdog watchdog = new Watchdog(DeviceThread.LOOKS, System::nanoTime);
    queue =
        new DeviceThread(name, config.spinNs(), counters::publish, DeviceLoad.PERIOD_NS, watchdog);
    try {
      if (config.state().enabled()) {
        openRecovered();
      } else {
        queue.open(opener);
      }
      queue.<Void, RuntimeException>call(
          target -> {
            counters.opened(target);
            return null;
          });
      if (recovered == null) {
        precondition();
      }
      for (VolumePort volume : volumes) {
        volume.opened(namespace(volume));
      }
    } catch (SimException | RuntimeException | Error e) {
      queue.close();
      queue = null;
      namespaces.clear();
      prepared.clear();
      throw e;
    }
    if (state != null) {
      state.start(recovered != null && stateCounters.get(StateCounter.STATE_REJECTED) == 0);
    }
  }

  /** Whether to open it may take an hour: its past is to be skewed, and no state has that yet. */
  public boolean getsLongPast() {
    return !started
        && config.mode() != MeldMode.OFF
        && !config.devices().preconditionOf(name).skew().isEmpty()
        && RecoveredState.find(stateFolders(), failures, stateCounters).last() == 0;
  }

  /** Opens a fresh device, and puts that of a usable state in its place. */
  private void openRecovered() throws SimException {
    List<Path> folders = stateFolders();
    StateFiles present = RecoveredState.find(folders, failures, stateCounters);
    FunctionRaisingIOE<Path, StateSnapshot> reader =
        RecoveredState.reader(present, config.state().snapshotMaxBytes());
    queue.open(opener);
    RecoveredState.Expected expected =
        new RecoveredState.Expected(
            binding.device(),
            queue.call(SimDevice::profile),
            config.slotBytes(),
            volumes.get(0).storageId());
    RecoveredState found =
        RecoveredState.read(
            present,
            expected,
            reader,
            image -> queue.call(DeviceCalls.PATIENCE, fresh -> opener.restore(image)),
            failures,
            stateCounters);
    if (found != null) {
      queue.open(found::device);
      Map<Integer, NamespaceInfo> byId = new HashMap<>();
      queue.call(SimDevice::namespaces).forEach(space -> byId.put(space.nsid(), space));
      for (StateSnapshot.Namespace namespace : found.namespaces()) {
        Placed placed = new Placed(byId.get(namespace.nsid()), namespace.set());
        namespaces.put(namespace.storageId(), placed);
      }
      recovered = found;
      past = past(found.past(), folders.get(0));
    }
    state =
        new DeviceState(
            name,
            config.state(),
            this::stateFolders,
            this::snapshot,
            present.last(),
            failures,
            stateCounters,
            files,
            System::nanoTime);
  }

  /** The past of a state, which counts: the device has it. An older state does not say. */
  private Precondition past(String recoveredPast, Path folder) throws SimException {
    Precondition configured = config.devices().preconditionOf(name);
    if (recoveredPast.isEmpty() || recoveredPast.equals(configured.toString())) {
      return configured;
    }
    failures.otherPast(
        name, recoveredPast, configured.toString(), config.devices().preconditionKey(name), folder);
    try {
      return Precondition.ofAll("past", recoveredPast);
    } catch (MeldConfigurationException e) {
      throw new SimException(e.getMessage(), e);
    }
  }

  private List<Path> stateFolders() {
    Stream<String> present = volumes.stream().map(VolumePort::volume);
    Stream<String> last = lastRoot == null ? Stream.empty() : Stream.of(lastRoot);
    Stream<String> bound =
        binding.isShared()
            ? config.devices().foldersOn(binding.device()).stream().map(File::getPath)
            : Stream.of(name);
    return Stream.of(present, last, bound)
        .flatMap(roots -> roots)
        .distinct()
        .map(root -> Path.of(root, StateFiles.FOLDER))
        .toList();
  }

  private StateSnapshot snapshot(ImageBuffer buffer) throws IOException {
    List<StateSnapshot.Namespace> spaces = new ArrayList<>();
    List<BlockRecord> records = new ArrayList<>();
    synchronized (blocks) {
      for (Map.Entry<String, Placed> entry : namespaces.entrySet()) {
        int nsid = entry.getValue().namespace().nsid();
        spaces.add(new StateSnapshot.Namespace(nsid, entry.getValue().set(), entry.getKey()));
        BlockTable table = blocks.get(nsid);
        if (table != null) {
          records.addAll(table.records());
        } else if (recovered != null) {
          records.addAll(recovered.intact(nsid));
        }
      }
    }
    long begin = System.nanoTime();
    // A record counts what was put in, the image what the device has acknowledged.
    Set<BlockKey> unacknowledged = new HashSet<>();
    ByteBuffer image =
        queue.<ByteBuffer, IOException>call(
            DeviceCalls.PATIENCE,
            target -> {
              ByteBuffer taken = buffer.take(target);
              unacknowledged.addAll(queue.unacknowledged());
              return taken;
            });
    records.replaceAll(
        record -> unacknowledged.contains(record.key()) ? record.withoutData() : record);
    StateCounter stall = StateCounter.STATE_SNAPSHOT_STALL_NS;
    stateCounters.set(stall, Math.max(stateCounters.get(stall), System.nanoTime() - begin));
    return new StateSnapshot(
        binding.device(),
        queue.call(SimDevice::profile),
        config.slotBytes(),
        past.toString(),
        spaces,
        records,
        image);
  }

  private NamespaceInfo namespace(VolumePort volume) throws SimException {
    Placed placed = namespaces.get(volume.storageId());
    if (placed == null || placed.set() != volume.set()) {
      placed = new Placed(create(volume.set()), volume.set());
      namespaces.put(volume.storageId(), placed);
    }
    counters.known(placed.namespace().nsid());
    return placed.namespace();
  }

  /** Whether the device was used before it had blocks, so that it holds data of nobody. */
  public boolean hasPast() {
    return !past.equals(Precondition.NONE);
  }

  /** What the device had been through before it had blocks; none before it is open. */
  public Precondition past() {
    return past;
  }

  /**
   * Makes a fresh device a used one, if it is configured so. The past lies where blocks will lie:
   * in the namespaces of all volumes that are bound to the device, which are made for that.
   */
  private void precondition() throws SimException {
    Precondition wanted = config.devices().preconditionOf(name);
    if (wanted.equals(Precondition.NONE)) {
      return;
    }
    int[] bound =
        !binding.isShared()
            ? new int[] {volumes.get(0).set()}
            : config.devices().foldersOn(binding.device()).stream()
                .mapToInt(folder -> config.devices().of(folder).set())
                .toArray();
    for (int set : bound) {
      NamespaceInfo namespace = createNew(set);
      prepared.computeIfAbsent(set, key -> new ArrayDeque<>()).add(namespace);
    }
    try {
      queue.<Void, SimException>call(
          wanted.skew().isEmpty() ? DeviceCalls.PATIENCE : DeviceCalls.PATIENCE_OF_PAST,
          target -> {
            target.precondition(wanted.toString());
            return null;
          });
      past = wanted;
    } catch (SimException e) {
      throw e.status() != SimStatus.ARGUMENT
          ? e
          : new SimException(
              e.getMessage(),
              new MeldConfigurationException(
                  config.devices().preconditionKey(name), wanted.toString(), e.getMessage()));
    }
  }

  private NamespaceInfo create(int set) throws SimException {
    Queue<NamespaceInfo> ready = prepared.get(set);
    NamespaceInfo next = ready == null ? null : ready.poll();
    return next == null ? createNew(set) : next;
  }

  private NamespaceInfo createNew(int set) throws SimException {
    long slot = (config.slotBytes() + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
    return set == VolumeBinding.ANY_SET
        ? queue.call(target -> target.createNamespace(SLOTS * slot))
        : queue.call(target -> target.createNamespaceIn(set, SLOTS * slot));
  }
}
