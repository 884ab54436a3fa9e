package org.hdfsmeld.datanode.volume;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.hadoop.util.functional.CommonCallableSupplier;
import org.apache.hadoop.util.functional.FutureIO;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.device.SharedDevice;
import org.hdfsmeld.datanode.metrics.Publisher;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings volumes onto their devices and takes them off: the only place where either happens.
 *
 * <p>A volume is opened, before HDFS has it; active, when HDFS has it; leaving, when HDFS has it no
 * more; and gone. It leaves on a thread of its own: files are written then, on a disk that may have
 * failed. The monitor is held for bookkeeping only, never while a device or a file is waited for.
 */
public final class VolumeLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(VolumeLifecycle.class);

  /** A device, and how many volumes are bound to it at present. */
  private record Binding(SharedDevice device, AtomicInteger volumes) {}

  private final MeldVolume.Shared shared;
  private final Function<String, SimDeviceOpener> openers;

  /** By storage id; those that are opened, and active. */
  private final Map<String, MeldVolume> volumes = new ConcurrentHashMap<>();

  // Under the monitor.
  private final Set<String> opening = new HashSet<>();
  private final Set<String> active = new HashSet<>();
  private final Map<String, Binding> devices = new HashMap<>();
  private final Map<Object, Publisher> publishers = new IdentityHashMap<>();

  private final Map<MeldVolume, Future<?>> leaving = new ConcurrentHashMap<>();

  VolumeLifecycle(MeldVolume.Shared shared, Function<String, SimDeviceOpener> openers) {
    this.shared = shared;
    this.openers = openers;
  }

  Collection<MeldVolume> volumes() {
    return volumes.values();
  }

  MeldVolume get(String storageId) {
    return volumes.get(storageId);
  }

  /**
   * Opens a volume's device and publishes both. Does nothing when that has happened.
   *
   * @throws MeldConfigurationException when the device's profile is unknown or invalid
   * @throws IOException when the device cannot be opened and the configuration asks for fail-fast
   */
  public void open(String storageId, File currentDir) throws IOException {
    synchronized (this) {
      if (volumes.containsKey(storageId) || !opening.add(storageId)) {
        return;
      }
    }
    File root = MeldVolume.root(currentDir);
    VolumeBinding binding = shared.config().devices().of(root);
    SharedDevice device = null;
    try {
      awaitLeaving(storageId, deviceName(binding, root));
      device = bind(binding, root);
      MeldVolume volume = new MeldVolume(storageId, currentDir, device, shared);
      start(volume, binding, root);
      volumes.put(storageId, volume);
      publish(volume, device, binding);
      LOG.info(
          "Volume {}: simulated device {}, mode {}, {}",
          volume.getVolume(),
          volume.getProfile(),
          volume.getMode(),
          volume.isHealthy() ? "in service" : "out of service");
    } finally {
      Publisher unpublished = null;
      synchronized (this) {
        opening.remove(storageId);
        if (device != null && !volumes.containsKey(storageId)) {
          unpublished = unbind(device);
        }
      }
      withdraw(unpublished);
    }
  }

  private static String deviceName(VolumeBinding binding, File root) {
    return binding.isShared() ? binding.device() : root.getPath();
  }

  /** The name of the device of a volume of that folder. */
  String deviceName(File currentDir) {
    File root = MeldVolume.root(currentDir);
    return deviceName(shared.config().devices().of(root), root);
  }

  /** The device that the volume is bound to; it may have others already. */
  private synchronized SharedDevice bind(VolumeBinding binding, File root) {
    SimDeviceOpener opener = openers.apply(binding.profile());
    Function<String, Binding> make =
        key ->
            new Binding(
                new SharedDevice(key, binding, shared.config(), opener, shared.failures()),
                new AtomicInteger());
    Binding bound = devices.computeIfAbsent(deviceName(binding, root), make);
    bound.volumes.incrementAndGet();
    return bound.device;
  }

  /**
   * The volume is bound to its device no more; what to withdraw once the monitor is left, or null.
   */
  private Publisher unbind(SharedDevice device) {
    Binding bound = devices.get(device.getDevice());
    if (bound.volumes.decrementAndGet() > 0) {
      return null;
    }
    devices.remove(device.getDevice());
    return publishers.remove(device);
  }

  private void start(MeldVolume volume, VolumeBinding binding, File root) throws IOException {
    if (!volume.device().device().getsLongPast()) {
      startNow(volume, binding, root);
      return;
    }
    Future<?> started =
        CommonCallableSupplier.submit(
            VolumeLifecycle::start, () -> startNow(volume, binding, root));
    try {
      FutureIO.awaitFuture(started, shared.config().waitTimeoutNs(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.warn(
          "Volume {}: its device gets the past '{}', which may take an hour. HDFS goes on, as in mode"
              + " off, until it is ready.",
          volume.getVolume(),
          shared.config().devices().preconditionOf(deviceName(binding, root)));
    }
  }

  private Void startNow(MeldVolume volume, VolumeBinding binding, File root) throws IOException {
    try {
      volume.start();
      // Makes the table of its blocks, with those from before a restart.
      volume.blocks();
    } catch (SimException e) {
      IOException refused = refused(e, binding, root);
      if (refused != null) {
        volume.shutdown(false);
        throw refused;
      }
      shared.failures().notStarted(e);
    }
    return null;
  }

  /** What stops the DataNode when a device cannot be used; null when it goes on without. */
  private IOException refused(SimException e, VolumeBinding binding, File root) {
    if (e.getCause() instanceof MeldConfigurationException wrong) {
      return wrong;
    }
    if (e.status() == SimStatus.PROFILE) {
      return new MeldConfigurationException(
          shared.config().devices().profileKey(root),
          binding.profile(),
          e.getMessage() + "; correct it or use another");
    }
    if (e.status() == SimStatus.ARGUMENT && binding.set() != VolumeBinding.ANY_SET) {
      return new MeldConfigurationException(
          MeldKeys.VOLUME_PROFILES,
          root + "=@" + binding.device() + "/" + binding.set(),
          e.getMessage());
    }
    if (e.status() == SimStatus.ARGUMENT) {
      return new MeldConfigurationException(
          shared.config().devices().profileKey(root),
          binding.profile(),
          e.getMessage()
              + "; HDFS writes anywhere on a volume: use a profile without zones, such as "
              + MeldKeys.defaultOf(MeldKeys.PROFILE));
    }
    return shared.config().failFast()
        ? new IOException(
            "The simulated device of volume %s cannot be used and %s is true: %s"
                .formatted(root, MeldKeys.FAIL_FAST, e.getMessage()),
            e)
        : null;
  }

  private synchronized void publish(MeldVolume volume, SharedDevice device, VolumeBinding binding) {
    publishers.put(volume, Publisher.of(volume, volume.storageId()));
    if (binding.isShared()) {
      publishers.computeIfAbsent(device, key -> Publisher.of(device, volume.storageId()));
    }
  }

  /**
   * Shows it no more. Hadoop's metrics system is told by another thread: it may be held by one that
   * asks a device which hangs.
   */
  private static void withdraw(Publisher publisher) {
    if (publisher != null) {
      publisher.hide();
      start(publisher::close);
    }
  }

  static void start(Runnable task) {
    Thread thread = new Thread(task, "meld-volume");
    thread.setDaemon(true);
    thread.start();
  }

  /** HDFS has the volume from now on. */
  public synchronized void activate(String storageId) {
    if (volumes.containsKey(storageId)) {
      active.add(storageId);
    }
  }

  /** HDFS does not take the volume after all. */
  public void rollBack(String storageId) {
    leave(List.of(storageId), true);
  }

  /** Takes the active volumes out that HDFS, by its storage ids, has no more. Waits for nothing. */
  public void retain(Supplier<Set<String>> present) {
    List<String> gone;
    synchronized (this) {
      // HDFS had each of them before it became active here: who is missing has been removed.
      gone = new ArrayList<>(active);
      gone.removeAll(present.get());
    }
    leave(gone, true);
  }

  /**
   * Takes all volumes out, and waits for that, no longer than this and the wait timeout.
   *
   * <p>Those that leave already are waited for too.
   */
  void close(long timeoutNs) {
    leave(List.copyOf(volumes.keySet()), false);
    long deadline = System.nanoTime() + Math.min(timeoutNs, shared.config().waitTimeoutNs());
    leaving.forEach(
        (volume, end) -> {
          if (!await(volume, end, deadline)) {
            LOG.error(
                "Volume {}: its state and its read history are not written yet. If the process ends"
                    + " now, blocks that changed since the last snapshot are laid out anew. Check the"
                    + " disk, or raise HADOOP_STOP_TIMEOUT.",
                volume.getVolume());
          }
        });
  }

  private void leave(Collection<String> storageIds, boolean removed) {
    for (String storageId : storageIds) {
      MeldVolume volume;
      Publisher ofVolume;
      Publisher ofDevice;
      synchronized (this) {
        active.remove(storageId);
        volume = volumes.remove(storageId);
        if (volume == null) {
          continue;
        }
        ofVolume = publishers.remove(volume);
        ofDevice = unbind(volume.device().device());
      }
      volume.stopForwarding();
      withdraw(ofVolume);
      withdraw(ofDevice);
      FutureTask<?> end =
          new FutureTask<>(
              () -> {
                try {
                  volume.shutdown(removed);
                } finally {
                  leaving.remove(volume);
                }
              },
              null);
      leaving.put(volume, end);
      start(end);
    }
  }

  /** A volume that comes back finds what it left: its files, or its namespace. */
  private void awaitLeaving(String storageId, String device) throws IOException {
    long deadline = System.nanoTime() + shared.config().waitTimeoutNs();
    for (Map.Entry<MeldVolume, Future<?>> entry : leaving.entrySet()) {
      MeldVolume before = entry.getKey();
      boolean last;
      synchronized (this) {
        last = before.device().device().getDevice().equals(device) && !devices.containsKey(device);
      }
      if ((last || before.storageId().equals(storageId))
          && !await(before, entry.getValue(), deadline)) {
        throw new IOException(
            "The simulated device of volume "
                + before.getVolume()
                + " is still being closed; check the volume's disk, then try again.");
      }
    }
  }

  private boolean await(MeldVolume volume, Future<?> end, long deadline) {
    try {
      end.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException e) {
      shared.failures().broken(volume.getVolume(), e.getCause());
      return true;
    }
  }
}
