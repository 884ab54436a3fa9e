package org.hdfsmeld.datanode.device;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounters;
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
 * <p>In account mode commands are deferred: what a call says of them is what is known by then.
 */
public final class VolumeDevice implements DeferredCommands.Issuer {
  /** Slices of a wait: how soon an interrupt or a change of mode is seen. */
  private static final long WAIT_SLICE_NS = 50_000_000;

  /** How soon it is seen that the device has room for commands again. */
  private static final long ROOM_POLL_NS = 1_000_000;

  private final String storageId;
  private final String volume;
  private final int set;
  private final MeldDevice device;
  private final long waitTimeoutNs;
  private final SimFailures failures;
  private final VolumeCounters counters;

  private volatile boolean closed;
  private volatile boolean refused;
  private volatile NamespaceInfo namespace;
  private volatile LongConsumer losses = slba -> {};

  /** A volume that is not yet on its device; {@link #attach} puts it there. */
  public VolumeDevice(
      String storageId,
      String volume,
      int set,
      MeldDevice device,
      long waitTimeoutNs,
      SimFailures failures,
      VolumeCounters counters) {
    this.storageId = storageId;
    this.volume = volume;
    this.set = set;
    this.device = device;
    this.waitTimeoutNs = waitTimeoutNs;
    this.failures = failures;
    this.counters = counters;
  }

  /** The device as a whole, which other volumes may be on too. */
  public MeldDevice device() {
    return device;
  }

  String storageId() {
    return storageId;
  }

  /** The volume's folder. */
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

  /** What the volume's namespace counts, for people; see {@link SimDevice#namespaceStats}. */
  public Map<String, Long> stats() {
    return device.stats(namespace);
  }

  /** The device was opened, and this is the volume's namespace on it. */
  void opened(NamespaceInfo opened) {
    namespace = opened;
  }

  /** Who hears, by their first block, of writes that the device was given and did not take. */
  public void onLoss(LongConsumer newLosses) {
    losses = newLosses;
  }

  /**
   * Puts the volume on its device, if it is not there yet.
   *
   * @throws SimException when the device refuses it; the volume then goes without
   */
  public void attach() throws SimException {
    try {
      device.attach(this);
    } catch (SimException e) {
      refused = true;
      counters.errors.increment();
      throw e;
    }
  }

  /** Has the device program all that was written. Waits for it. */
  void settle() {
    await(flush(), new WaitBudget(waitTimeoutNs), counters.writerWaitNs);
  }

  /**
   * Whether I/O goes to the device. Counts a fallback when it should and cannot.
   *
   * <p>Cheap: called for every packet.
   */
  public boolean forwards() {
    if (mode() == MeldMode.OFF) {
      return false;
    }
    if (isHealthy()) {
      return true;
    }
    if (!closed) {
      counters.fallbacks.increment();
    }
    return false;
  }

  /** The open device while it is in service, else null. */
  private SimDevice usable() {
    return closed ? null : device.usable();
  }

  /**
   * Submits a command. Never blocks.
   *
   * @return a ticket, {@link TicketedIo#NOTHING} when detached, {@link SimStatus#TIMEOUT} when the
   *     device has no room for it at present, or another status below 0
   */
  public long submit(int opcode, long slba, int nlb, int directive, boolean detached) {
    SimDevice target = usable();
    if (target == null) {
      return SimStatus.CLOSED;
    }
    try {
      DeferredCommands deferred = device.deferred();
      if (deferred != null && mode() == MeldMode.ACCOUNT) {
        return deferred.submit(this, opcode, namespace.nsid(), slba, nlb, directive, detached);
      }
      long ticket = target.submit(opcode, namespace.nsid(), slba, nlb, directive, detached);
      if (ticket < 0 && ticket != SimStatus.TIMEOUT) {
        failed(Opcode.name(opcode), ticket, target.lastError());
      }
      return ticket;
    } catch (RuntimeException | Error e) {
      broken(e);
      return SimStatus.CLOSED;
    }
  }

  /** Submits a flush: a ticket, or {@link TicketedIo#NOTHING} when that failed. */
  public long flush() {
    return Math.max(submit(Opcode.FLUSH, 0, 0, Directive.NONE, false), TicketedIo.NOTHING);
  }

  /**
   * Lets a little time pass in which the device may get room for commands.
   *
   * @param waitNs gets the wall time spent
   * @return whether to try again; false when the budget is spent or waiting has become pointless
   */
  public boolean awaitRoom(WaitBudget budget, LongAdder waitNs) {
    if (budget.isSpent()) {
      timedOut();
      return false;
    }
    if (Thread.currentThread().isInterrupted() || closed || mode() == MeldMode.OFF) {
      return false;
    }
    long begin = System.nanoTime();
    LockSupport.parkNanos(Math.min(ROOM_POLL_NS, budget.leftNs()));
    long spent = System.nanoTime() - begin;
    budget.spend(spent);
    waitNs.add(spent);
    return true;
  }

  /**
   * Waits for a ticket: until its commands are done, the budget is spent, the thread is interrupted
   * (the interrupt stays set), or waiting has become pointless.
   *
   * @param waitNs gets the wall time spent, in real-time mode
   */
  public void await(long ticket, WaitBudget budget, LongAdder waitNs) {
    SimDevice target = usable();
    if (target == null || ticket == TicketedIo.NOTHING) {
      return;
    }
    boolean timed = mode() == MeldMode.REAL_TIME;
    long begin = timed ? System.nanoTime() : 0;
    try {
      if (DeferredCommands.owns(ticket)) {
        device.deferred().settle(this, ticket);
      } else {
        awaitSliced(target, ticket, budget);
      }
    } catch (RuntimeException | Error e) {
      broken(e);
    } finally {
      if (timed) {
        waitNs.add(System.nanoTime() - begin);
      }
    }
  }

  private void awaitSliced(SimDevice target, long ticket, WaitBudget budget) {
    // The clock is read only when the first slice was not enough.
    long begin = 0;
    while (true) {
      boolean interrupted = Thread.currentThread().isInterrupted();
      long slice = interrupted ? 0 : Math.min(WAIT_SLICE_NS, budget.leftNs());
      long result = target.await(ticket, slice);
      if (result >= 0) {
        return;
      }
      if (result != SimStatus.TIMEOUT) {
        failed("wait", result, target.lastError());
        return;
      }
      long now = System.nanoTime();
      budget.spend(begin == 0 ? slice : now - begin);
      begin = now;
      boolean late = budget.isSpent();
      if (late) {
        timedOut();
      }
      if (late || interrupted || closed || mode() == MeldMode.OFF) {
        target.forget(ticket);
        return;
      }
    }
  }

  /** Gives a ticket up. */
  public void forget(long ticket) {
    SimDevice target = usable();
    if (target == null || ticket == TicketedIo.NOTHING) {
      return;
    }
    guarded(
        "forget",
        () -> {
          if (DeferredCommands.owns(ticket)) {
            device.deferred().forget(this, ticket);
            return SimStatus.OK;
          }
          return target.forget(ticket);
        });
  }

  /** Places data as if long since written; false when the device refused. */
  public boolean preload(long slba, long nlb, int directive) {
    SimDevice target = usable();
    return target != null
        && guarded("preload", () -> target.preload(namespace.nsid(), slba, nlb, directive));
  }

  /** Makes a call that returns a status; whether it succeeded. Never throws. */
  boolean guarded(String what, IntSupplier call) {
    SimDevice target = usable();
    if (target == null) {
      return false;
    }
    try {
      int status = call.getAsInt();
      if (status < 0) {
        failed(what, status, target.lastError());
      }
      return status >= 0;
    } catch (RuntimeException | Error e) {
      broken(e);
      return false;
    }
  }

  /** How a range is laid out, as of {@link SimDevice#layout}; false when the device refused. */
  public boolean layout(long slba, long nlb, long[] out) {
    SimDevice target = usable();
    return target != null
        && guarded("layout", () -> target.layout(namespace.nsid(), slba, nlb, out));
  }

  /** Takes the volume off its device. Waiters return; later calls do nothing. */
  public void close() {
    closed = true;
    try {
      device.detach(this);
    } catch (RuntimeException | Error e) {
      failures.broken(volume, e);
    }
  }

  private void timedOut() {
    counters.timeouts.increment();
    failures.timedOut(volume, mode());
  }

  /** The device could not be opened or refused a mode; it is out of service already. */
  public void notStarted() {
    counters.errors.increment();
  }

  @Override
  public void failed(int opcode, long slba, long status, String error) {
    if (usable() == null) {
      // Given before the device went out of service.
      return;
    }
    failed(opcode < 0 ? "wait" : Opcode.name(opcode), status, error);
    if (opcode == Opcode.WRITE) {
      losses.accept(slba);
    }
  }

  private void failed(String what, long status, String error) {
    if (closed) {
      return;
    }
    String reason = SimStatus.name(status) + ": " + error;
    counters.errors.increment();
    if (SimStatus.isFatal(status)) {
      device.outOfService(reason);
    } else {
      device.failed(reason);
    }
    failures.failed(volume, what, status, reason);
  }

  @Override
  public void broken(Throwable e) {
    if (closed) {
      return;
    }
    counters.errors.increment();
    device.outOfService(e.toString());
    failures.broken(volume, e);
  }
}
