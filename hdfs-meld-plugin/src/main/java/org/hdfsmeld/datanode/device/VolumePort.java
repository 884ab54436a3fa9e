package org.hdfsmeld.datanode.device;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.sim.CommandRing;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;

/**
 * A volume's namespace on its simulated device, behind the rule that the simulator never hurts
 * HDFS.
 *
 * <p>Nothing here throws into an I/O path: a failing call is counted, said once, and done without.
 * After a failure that the device cannot recover from, {@link #forwards} is false for good and the
 * volume is stock HDFS.
 *
 * <p>Commands are queued: what a call says of them is what is known by then.
 */
public final class VolumePort implements DeviceThread.Origin {
  /** Slices of a wait: how soon an interrupt or a change of mode is seen. */
  private static final long WAIT_SLICE_NS = 50_000_000;

  /** How soon it is seen that the queue has room for commands again. */
  private static final long ROOM_POLL_NS = 1_000_000;

  private static final AtomicInteger VOLUMES = new AtomicInteger();

  private final int number = VOLUMES.incrementAndGet();
  private final String storageId;
  private final String volume;
  private final int set;
  private final SharedDevice device;
  private final SimFailures failures;
  private final Counters<VolumeCounter> counters;

  private volatile boolean leaving;
  private volatile boolean closed;
  private volatile boolean refused;
  private volatile NamespaceInfo namespace;

  /** A volume that is not yet on its device; {@link #attach} puts it there. */
  public VolumePort(
      String storageId,
      String volume,
      int set,
      SharedDevice device,
      SimFailures failures,
      Counters<VolumeCounter> counters) {
    this.storageId = storageId;
    this.volume = volume;
    this.set = set;
    this.device = device;
    this.failures = failures;
    this.counters = counters;
  }

  /** The device as a whole, which other volumes may be on too. */
  public SharedDevice device() {
    return device;
  }

  /** Tells the volume from others in this JVM. */
  public int number() {
    return number;
  }

  public String storageId() {
    return storageId;
  }

  String volume() {
    return volume;
  }

  /** The NVM set that the volume is bound to, or {@link VolumeBinding#ANY_SET}. */
  int set() {
    return set;
  }

  public MeldMode mode() {
    return device.mode();
  }

  public boolean isHealthy() {
    return device.isHealthy() && !closed && !refused;
  }

  /** The namespace, null before the device is open. */
  public NamespaceInfo namespace() {
    return namespace;
  }

  /**
   * What the volume's namespace counts, for people; see {@link SimDevice#namespaceStats}. None
   * before the device is open, the last known once it failed.
   */
  public Map<String, Long> stats() {
    return namespace == null ? Map.of() : device.counters.namespace(namespace.nsid());
  }

  void opened(NamespaceInfo opened) {
    namespace = opened;
  }

  /**
   * Puts the volume on its device, if it is not there yet.
   *
   * @throws SimException when the device refuses it; the volume then goes without
   */
  public void attach() throws SimException {
    try {
      device.addVolume(this);
    } catch (SimException e) {
      refused = true;
      throw e;
    }
  }

  /**
   * Whether I/O goes to the device. Counts a fallback when it should and cannot.
   *
   * <p>Cheap: called for every packet.
   */
  public boolean forwards() {
    if (mode() == MeldMode.OFF || leaving) {
      return false;
    }
    if (isHealthy()) {
      return true;
    }
    if (!closed) {
      counters.increment(VolumeCounter.FALLBACKS);
    }
    return false;
  }

  private DeviceThread usable() {
    return closed ? null : device.usable();
  }

  /**
   * Submits a command. Never blocks.
   *
   * @param extent what is written, or null
   * @return a ticket, {@link TicketedIo#NOTHING} when detached, {@link SimStatus#TIMEOUT} when the
   *     queue has no room for it at present, or another status below 0
   */
  public long submit(
      WrittenExtent extent, int opcode, long slba, int nlb, int directive, boolean detached) {
    DeviceThread queue = usable();
    if (queue == null) {
      return SimStatus.CLOSED;
    }
    try {
      return queue.submit(this, extent, opcode, namespace.nsid(), slba, nlb, directive, detached);
    } catch (RuntimeException | Error e) {
      broken(e);
      return SimStatus.CLOSED;
    }
  }

  /** Submits a flush: a ticket, or {@link TicketedIo#NOTHING} when that failed. */
  public long flush() {
    return Math.max(submit(null, Opcode.FLUSH, 0, 0, Directive.NONE, false), TicketedIo.NOTHING);
  }

  /**
   * Lets a little time pass in which the queue may get room for commands.
   *
   * @param waited counts the wall time spent
   * @return whether to try again; false when the budget is spent or waiting has become pointless
   */
  public boolean awaitRoom(WaitBudget budget, VolumeCounter waited) {
    if (budget.isSpent()) {
      timedOut();
      return false;
    }
    if (isPointless()) {
      return false;
    }
    long begin = System.nanoTime();
    LockSupport.parkNanos(Math.min(ROOM_POLL_NS, budget.leftNs()));
    long spent = System.nanoTime() - begin;
    budget.spend(spent);
    counters.add(waited, spent);
    return true;
  }

  /**
   * Waits for a ticket: until its commands are done, the budget is spent, the thread is interrupted
   * (the interrupt stays set), or waiting has become pointless.
   *
   * @param waited counts the wall time spent, in real-time mode
   */
  public void await(long ticket, WaitBudget budget, VolumeCounter waited) {
    DeviceThread queue = usable();
    if (queue == null || ticket == TicketedIo.NOTHING) {
      return;
    }
    boolean timed = mode() == MeldMode.REAL_TIME;
    long begin = timed ? System.nanoTime() : 0;
    try {
      awaitSliced(queue, ticket, budget);
    } catch (RuntimeException | Error e) {
      broken(e);
    } finally {
      if (timed) {
        counters.add(waited, System.nanoTime() - begin);
      }
    }
  }

  private boolean isPointless() {
    return Thread.currentThread().isInterrupted() || closed || mode() == MeldMode.OFF;
  }

  private void awaitSliced(DeviceThread queue, long ticket, WaitBudget budget) {
    long begin = System.nanoTime();
    while (!queue.await(this, ticket, Math.min(WAIT_SLICE_NS, budget.leftNs()))) {
      budget.spend(System.nanoTime() - begin);
      if (budget.isSpent()) {
        timedOut();
      }
      if (budget.isSpent() || isPointless()) {
        return;
      }
      begin = System.nanoTime();
    }
  }

  /** Whether a command that is submitted now finds room. */
  public boolean hasRoom() {
    DeviceThread queue = usable();
    return queue == null || queue.hasRoom();
  }

  /**
   * Places data as if long since written; false when there was no room to ask for it. Never blocks.
   */
  public boolean preload(WrittenExtent extent, long slba, int nlb, int directive) {
    return submit(extent, CommandRing.PRELOAD, slba, nlb, directive, true) >= 0;
  }

  /** How a range is laid out, as of {@link SimDevice#layout}; false when the device refused. */
  public boolean layout(long slba, long nlb, long[] out) {
    DeviceThread queue = usable();
    if (queue == null) {
      return false;
    }
    try {
      return queue.<Boolean, RuntimeException>call(
          target -> {
            int status = target.layout(namespace.nsid(), slba, nlb, out);
            if (status < 0) {
              failed("layout", status, target.lastError());
            }
            return status >= 0;
          });
    } catch (RuntimeException | Error e) {
      broken(e);
      return false;
    }
  }

  /** The namespace has no room for a block. */
  public void full() {
    failed("write", SimStatus.CAPACITY, "the namespace has no slot left for another block");
  }

  /** HDFS's I/O goes to the device no more. */
  public void stopForwarding() {
    leaving = true;
  }

  /** Takes the volume off its device. Waiters return; later calls do nothing. */
  public void close() {
    closed = true;
    try {
      device.removeVolume(this);
    } catch (RuntimeException | Error e) {
      failures.broken(volume, e);
    }
  }

  private void timedOut() {
    counters.increment(VolumeCounter.TIMEOUTS);
    failures.timedOut(volume, mode());
  }

  @Override
  public void failed(WrittenExtent extent, int opcode, long slba, long status, String error) {
    if (usable() == null) {
      // Given before the device went out of service.
      return;
    }
    if (status == SimStatus.TIMEOUT) {
      // It was taken, but a wait for it took the host too long.
      timedOut();
      return;
    }
    failed(opcode == CommandRing.PRELOAD ? "preload" : Opcode.name(opcode), status, error);
    if (extent != null) {
      extent.lost(slba);
    }
  }

  private void failed(String what, long status, String error) {
    if (closed) {
      return;
    }
    String reason = SimStatus.name(status) + ": " + error;
    counters.increment(VolumeCounter.ERRORS);
    device.failed(reason, SimStatus.isFatal(status));
    failures.failed(volume, what, status, reason);
  }

  @Override
  public void broken(Throwable e) {
    if (closed) {
      return;
    }
    counters.increment(VolumeCounter.ERRORS);
    device.failed(e.toString(), true);
    failures.broken(volume, e);
  }
}
