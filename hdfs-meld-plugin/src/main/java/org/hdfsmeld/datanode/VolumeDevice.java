package org.hdfsmeld.datanode;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStats;
import org.hdfsmeld.sim.SimStatus;

/**
 * The simulated device of one volume, behind the rule that the simulator never hurts HDFS.
 *
 * <p>Nothing here throws into an I/O path: a failing call is counted, said once, and done without.
 * After a failure that the device cannot recover from, {@link #forwards} is false for good and the
 * volume is stock HDFS. A device is opened when it is first needed, so mode {@code off} needs no
 * library.
 */
final class VolumeDevice {
  /** Slices of a wait: how soon an interrupt or a change of mode is seen. */
  private static final long WAIT_SLICE_NS = 50_000_000;

  /** How soon it is seen that the device has room for commands again. */
  private static final long ROOM_POLL_NS = 1_000_000;

  /** Thin address space for this many full blocks. */
  private static final long SLOTS = 1 << 20;

  private static final long SLOT_ALIGNMENT = 64 << 10;

  private final String volume;
  private final MeldConfiguration config;
  private final SimDeviceOpener opener;
  private final SimFailures failures;
  private final VolumeCounters counters;

  private volatile MeldMode mode = MeldMode.OFF;
  private volatile double timeDilation;
  private volatile boolean healthy = true;
  private volatile boolean closed;
  private volatile SimDevice device;
  private volatile NamespaceInfo namespace;
  private volatile String lastError = "";
  private List<String> statNames = SimStats.NAMES;
  private long[] lastStats = new long[statNames.size()];

  VolumeDevice(
      String volume,
      MeldConfiguration config,
      SimDeviceOpener opener,
      SimFailures failures,
      VolumeCounters counters) {
    this.volume = volume;
    this.config = config;
    this.opener = opener;
    this.failures = failures;
    this.counters = counters;
    this.timeDilation = config.timeDilation();
  }

  MeldMode mode() {
    return mode;
  }

  double timeDilation() {
    return timeDilation;
  }

  boolean isHealthy() {
    return healthy;
  }

  /** Text of the last failure, empty when there was none. */
  String lastError() {
    return lastError;
  }

  /** The open device's namespace, null before it is open. */
  NamespaceInfo namespace() {
    return namespace;
  }

  /**
   * Whether I/O goes to the device. Counts a fallback when it should and cannot.
   *
   * <p>Cheap: called for every packet.
   */
  boolean forwards() {
    if (mode == MeldMode.OFF) {
      return false;
    }
    if (healthy) {
      return true;
    }
    if (!closed) {
      counters.fallbacks.increment();
    }
    return false;
  }

  /**
   * Changes mode and dilation, opening the device first if it is needed now.
   *
   * @throws SimException when it cannot be opened or refuses the mode; the mode is set all the same
   *     and the volume unhealthy
   */
  synchronized void setMode(MeldMode newMode, double newDilation) throws SimException {
    String problem = MeldConfiguration.dilationProblem(newDilation);
    if (problem != null) {
      throw new IllegalArgumentException("time dilation " + newDilation + ": " + problem);
    }
    timeDilation = newDilation;
    try {
      if (newMode != MeldMode.OFF && device == null && !closed) {
        open();
      }
      SimDevice target = device;
      if (target != null && healthy) {
        if (newMode == MeldMode.REAL_TIME && mode != MeldMode.REAL_TIME) {
          // What was written while nobody waited must not sit in the device's buffer, where readers
          // would find it faster than on the flash.
          await(flush(), new WaitBudget(config.waitTimeoutNs()), counters.writerWaitNs);
        }
        int status = target.setMode(newMode == MeldMode.REAL_TIME, newDilation);
        if (status < 0) {
          throw new SimException(status, target.lastError());
        }
      }
    } catch (SimException e) {
      startFailure(e.getMessage());
      throw e;
    } catch (RuntimeException | Error e) {
      startFailure(e.toString());
      throw new SimException(e.toString(), e);
    } finally {
      mode = newMode;
    }
  }

  /** The open device while it is in service, else null. */
  private SimDevice usable() {
    return healthy ? device : null;
  }

  /**
   * Submits a command. Never blocks.
   *
   * @return a ticket, {@link TicketedIo#NOTHING} when detached, {@link SimStatus#TIMEOUT} when the
   *     device has no room for it at present, or another status below 0
   */
  long submit(int opcode, long slba, int nlb, int directive, boolean detached) {
    SimDevice target = usable();
    if (target == null) {
      return SimStatus.CLOSED;
    }
    try {
      long ticket = target.submit(opcode, namespace.nsid(), slba, nlb, directive, detached);
      if (ticket < 0 && ticket != SimStatus.TIMEOUT) {
        failed(Opcode.name(opcode), ticket, target);
      }
      return ticket;
    } catch (RuntimeException | Error e) {
      broken(e);
      return SimStatus.CLOSED;
    }
  }

  /** Submits a flush: a ticket, or {@link TicketedIo#NOTHING} when that failed. */
  long flush() {
    return Math.max(submit(Opcode.FLUSH, 0, 0, Directive.NONE, false), TicketedIo.NOTHING);
  }

  /**
   * Lets a little time pass in which the device may get room for commands.
   *
   * @param waitNs gets the wall time spent
   * @return whether to try again; false when the budget is spent or waiting has become pointless
   */
  boolean awaitRoom(WaitBudget budget, LongAdder waitNs) {
    if (budget.isSpent()) {
      timedOut();
      return false;
    }
    if (Thread.currentThread().isInterrupted() || closed || mode == MeldMode.OFF) {
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
  void await(long ticket, WaitBudget budget, LongAdder waitNs) {
    SimDevice target = usable();
    if (target == null || ticket == TicketedIo.NOTHING) {
      return;
    }
    boolean timed = mode == MeldMode.REAL_TIME;
    long begin = timed ? System.nanoTime() : 0;
    try {
      awaitSliced(target, ticket, budget);
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
        failed("wait", result, target);
        return;
      }
      long now = System.nanoTime();
      budget.spend(begin == 0 ? slice : now - begin);
      begin = now;
      boolean late = budget.isSpent();
      if (late) {
        timedOut();
      }
      if (late || interrupted || closed || mode == MeldMode.OFF) {
        target.forget(ticket);
        return;
      }
    }
  }

  /** Gives a ticket up. */
  void forget(long ticket) {
    SimDevice target = usable();
    if (target == null || ticket == TicketedIo.NOTHING) {
      return;
    }
    try {
      int status = target.forget(ticket);
      if (status < 0) {
        failed("forget", status, target);
      }
    } catch (RuntimeException | Error e) {
      broken(e);
    }
  }

  /** Places data as if long since written; false when the device refused. */
  boolean preload(long slba, long nlb, int directive) {
    SimDevice target = usable();
    if (target == null) {
      return false;
    }
    try {
      int status = target.preload(namespace.nsid(), slba, nlb, directive);
      if (status < 0) {
        failed("preload", status, target);
      }
      return status >= 0;
    } catch (RuntimeException | Error e) {
      broken(e);
      return false;
    }
  }

  /** How a range is laid out, as of {@link SimDevice#layout}; false when the device refused. */
  boolean layout(long slba, long nlb, long[] out) {
    SimDevice target = usable();
    if (target == null) {
      return false;
    }
    try {
      int status = target.layout(namespace.nsid(), slba, nlb, out);
      if (status < 0) {
        failed("layout", status, target);
      }
      return status >= 0;
    } catch (RuntimeException | Error e) {
      broken(e);
      return false;
    }
  }

  /** The device's counters; zeros before it is open, the last known ones once it failed. */
  synchronized Map<String, Long> stats() {
    SimDevice target = usable();
    if (target != null) {
      try {
        int status = target.stats(lastStats);
        if (status < 0) {
          failed("stats", status, target);
        }
      } catch (RuntimeException | Error e) {
        broken(e);
      }
    }
    Map<String, Long> byName = new LinkedHashMap<>();
    for (int i = 0; i < lastStats.length; i++) {
      byName.put(statNames.get(i), lastStats[i]);
    }
    return byName;
  }

  /** Test hook; see {@link SimDevice#injectFault}. */
  void injectFault(int kind, long afterCalls) throws SimException {
    SimDevice target = device;
    if (target == null) {
      throw new SimException("no device is open on volume " + volume, null);
    }
    int status = target.injectFault(kind, afterCalls);
    if (status < 0) {
      throw new SimException(status, target.lastError());
    }
  }

  /** Closes the device. Waiters return; later calls do nothing. */
  synchronized void close() {
    closed = true;
    healthy = false;
    SimDevice target = device;
    if (target != null) {
      try {
        target.close();
      } catch (RuntimeException | Error e) {
        failures.broken(volume, e);
      }
    }
  }

  private void open() throws SimException {
    SimDevice opened = opener.open();
    try {
      long slot = (config.slotBytes() + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
      namespace = opened.createNamespace(SLOTS * slot);
      statNames = opened.statNames();
      lastStats = new long[statNames.size()];
      device = opened;
    } finally {
      if (device == null) {
        opened.close();
      }
    }
  }

  private void timedOut() {
    counters.timeouts.increment();
    failures.timedOut(volume);
  }

  private void startFailure(String reason) {
    counters.errors.increment();
    healthy = false;
    lastError = reason;
  }

  private void failed(String what, long status, SimDevice target) {
    if (closed) {
      return;
    }
    String reason = SimStatus.name(status) + ": " + target.lastError();
    counters.errors.increment();
    lastError = reason;
    if (SimStatus.isFatal(status)) {
      healthy = false;
    }
    failures.failed(volume, what, status, reason);
  }

  private void broken(Throwable e) {
    if (closed) {
      return;
    }
    counters.errors.increment();
    healthy = false;
    lastError = e.toString();
    failures.broken(volume, e);
  }
}
