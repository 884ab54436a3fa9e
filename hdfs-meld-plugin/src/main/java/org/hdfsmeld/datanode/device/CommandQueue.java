package org.hdfsmeld.datanode.device;

import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.hdfsmeld.sim.Completions;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;

/**
 * Submission and completion of a device's commands: HDFS's threads put them in, and one thread of
 * the device gives them to the simulator, in that order, and completes them.
 *
 * <p>A call into a library cannot be stopped, so no thread of HDFS makes one. In {@code account}
 * mode nobody waits for the device: a ticket that is awaited goes into the queue too, and when its
 * turn has come simulated time moves until its command is done. In {@code real-time} mode the
 * simulator posts what is done, and who awaits it is woken.
 *
 * <p>Bounded: {@value #CAPACITY} entries, after which there is no room until the thread has caught
 * up, and by the tickets that are held: see {@link Tickets}. To put in an entry allocates nothing.
 */
final class CommandQueue {
  /** What a command was given for. Called by the device's thread; must not wait. */
  interface Origin {
    /**
     * A command was refused, or failed.
     *
     * @param extent what was to be written, if it says so
     * @param opcode one of {@link Opcode}, or {@link #PRELOAD}
     * @param slba its first logical block
     */
    void failed(WrittenExtent extent, int opcode, long slba, long status, String error);

    /** The binding threw. */
    void broken(Throwable e);
  }

  /** A call on the device. */
  interface Call<T, E extends Exception> {
    T make(SimDevice device) throws E;
  }

  /** The opcode of data that is placed as if long since written. */
  static final int PRELOAD = -1;

  private static final int WAIT = -2;
  private static final int FORGET = -3;

  private static final int CAPACITY = 4096;

  /** In account mode so many entries wake the thread. */
  private static final int WAKE_AT = CAPACITY / 4;

  /**
   * In account mode fewer are gathered for so long. The blocks that HDFS copies push the
   * simulator's tables out of the processor's caches: for a write of 512 MiB the thread takes 17 ms
   * of a processor when they are gathered for 20 ms, and 12 for 200 ms.
   */
  private static final long GATHER_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** After so many looks at an empty queue the thread sleeps until it is woken. */
  private static final int IDLE_LOOKS = 5;

  /** How often it is seen whether the device has room again. */
  private static final long ROOM_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** In account mode a wait ends by itself; this is for one whose device never completes. */
  private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(1);

  /** A call is given up after so many looks, which is after 10 s; sooner in tests that hang. */
  static final int LOOKS = Integer.getInteger("org.hdfsmeld.looks", 100);

  /** A device of a large snapshot may take seconds to open: so many times as long as a call. */
  private static final int PATIENCE = 6;

  private final Watchdog watchdog;
  private final Tickets held = new Tickets();
  private final Consumer<SimDevice> sampler;
  private final long samplePeriodNs;
  private final Thread thread;

  // Entries; written under this object's monitor, and read by the thread.
  private final Origin[] origins = new Origin[CAPACITY];
  private final WrittenExtent[] extents = new WrittenExtent[CAPACITY];
  private final int[] opcodes = new int[CAPACITY];
  private final int[] nsids = new int[CAPACITY];
  private final long[] slbas = new long[CAPACITY];
  private final int[] nlbs = new int[CAPACITY];
  private final int[] directives = new int[CAPACITY];
  private final long[] tickets = new long[CAPACITY];

  private final Queue<FutureTask<?>> calls = new ConcurrentLinkedQueue<>();

  /** Entries done, and entries put in. */
  private volatile long done;

  private volatile long put;
  private volatile boolean asleep;
  private volatile boolean closing;
  private volatile boolean realTime;

  private final Completions completions = new Completions();
  private SimDevice device;
  private long sampledNs;

  /**
   * A queue without a device; {@link #open} gives it one.
   *
   * @param name the device's name, for people
   * @param sampler called by the thread in real-time mode, every {@code samplePeriodNs} while it
   *     works
   */
  CommandQueue(String name, Consumer<SimDevice> sampler, long samplePeriodNs) {
    this(name, sampler, samplePeriodNs, new Watchdog(LOOKS, System::nanoTime));
  }

  /** A queue whose calls are given up by a watchdog of its own. */
  CommandQueue(String name, Consumer<SimDevice> sampler, long samplePeriodNs, Watchdog watchdog) {
    this.watchdog = watchdog;
    this.sampler = sampler;
    this.samplePeriodNs = samplePeriodNs;
    this.thread = new Thread(this::run, "meld-device-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Puts in a command. Never waits.
   *
   * @param extent what is written, or null
   * @return as of {@link SimDevice#submit}, but for what only the device knows: that the origin
   *     hears
   */
  long submit(
      Origin origin,
      WrittenExtent extent,
      int opcode,
      int nsid,
      long slba,
      int nlb,
      int directive,
      boolean detached) {
    return put(origin, extent, opcode, nsid, slba, nlb, directive, detached ? 0 : -1);
  }

  /** Whether a command that is put in now finds room. */
  boolean hasRoom() {
    return put - done < CAPACITY;
  }

  /**
   * Waits for a ticket, in real-time mode; in account mode puts in that it is waited for.
   *
   * @return whether it is done; false after {@code timeoutNs}, or when the thread is interrupted
   */
  boolean await(Origin origin, long ticket, long timeoutNs) {
    if (!realTime) {
      put(origin, null, WAIT, 0, 0, 0, 0, ticket);
      return true;
    }
    boolean ended = held.await(ticket, timeoutNs);
    if (!ended) {
      watchdog.look(done);
    }
    return ended;
  }

  /** Puts in that nobody waits for the ticket any more. */
  void forget(Origin origin, long ticket) {
    put(origin, null, FORGET, 0, 0, 0, 0, ticket);
  }

  /**
   * Opens the device.
   *
   * @throws SimException when that fails
   * @throws IllegalStateException when it does not come back
   */
  void open(SimDeviceOpener opener) throws SimException {
    this.<Void, SimException>callPatiently(
        none -> {
          SimDevice opened = opener.open();
          if (device != null) {
            device.close();
          }
          device = opened;
          return null;
        });
  }

  /**
   * Makes a call after all that was put in before, and waits for it. An interrupt does not end the
   * wait, and stays set.
   *
   * @throws E what the call throws
   * @throws IllegalStateException when this call, or another, does not come back
   */
  <T, E extends Exception> T call(Call<T, E> call) throws E {
    return call(1, call);
  }

  /** As {@link #call(Call)}, of a call that may take a minute. */
  <T, E extends Exception> T callPatiently(Call<T, E> call) throws E {
    return call(PATIENCE, call);
  }

  private <T, E extends Exception> T call(int longer, Call<T, E> call) throws E {
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              watchdog.bePatient(longer);
              try {
                return call.make(device);
              } finally {
                watchdog.bePatient(1);
              }
            });
    calls.add(task);
    LockSupport.unpark(thread);
    boolean interrupted = false;
    try {
      while (true) {
        if (closing) {
          task.cancel(false);
        }
        try {
          return task.get(Watchdog.LOOK_MS, TimeUnit.MILLISECONDS);
        } catch (CancellationException e) {
          throw new IllegalStateException("the simulated device has been closed", e);
        } catch (TimeoutException e) {
          watchdog.look(done);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw CommandQueue.<E>thrown(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A call declares no other exceptions than {@code E}, and those that need no declaration. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> E thrown(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof RuntimeException exception) {
      throw exception;
    }
    return (E) cause;
  }

  /**
   * Changes who moves time, after all that was put in before. Who awaits a ticket goes on: what was
   * accounted is complete, and what was paced need not be waited for.
   *
   * @throws SimException when the device refuses it
   */
  void setMode(boolean newRealTime, double timeDilation) throws SimException {
    this.<Void, SimException>callPatiently(
        target -> {
          int status = target.setMode(newRealTime, timeDilation);
          if (status < 0) {
            throw new SimException(status, target.lastError());
          }
          if (realTime != newRealTime) {
            realTime = newRealTime;
            held.forEachHeld(this::release);
          }
          return null;
        });
  }

  /** Ends the device. What is not done then is left undone, and who waits goes on. */
  synchronized void close() {
    closing = true;
    LockSupport.unpark(thread);
  }

  /** Waits until the device has ended, for as long as a call may take. */
  void awaitClosed(long timeoutNs) {
    try {
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNs)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized long put(
      Origin origin,
      WrittenExtent extent,
      int opcode,
      int nsid,
      long slba,
      int nlb,
      int directive,
      long ticket) {
    if (closing) {
      return SimStatus.CLOSED;
    }
    watchdog.look(done);
    if (!hasRoom()) {
      return SimStatus.TIMEOUT;
    }
    int at = (int) (put % CAPACITY);
    origins[at] = origin;
    extents[at] = extent;
    opcodes[at] = opcode;
    nsids[at] = nsid;
    slbas[at] = slba;
    nlbs[at] = nlb;
    directives[at] = directive;
    long given = ticket < 0 ? held.issue() : ticket;
    tickets[at] = given;
    put = put + 1;
    if (asleep || put % WAKE_AT == 0) {
      asleep = false;
      LockSupport.unpark(thread);
    }
    return given;
  }

  private void run() {
    int idle = 0;
    while (!closing) {
      // Comes after what was put in before it, as far as the device had room for that.
      FutureTask<?> call = calls.poll();
      long all = put;
      idle = done < all ? 0 : idle + 1;
      boolean room = doAll(all);
      if (call != null) {
        watchdog.beat();
        call.run();
        watchdog.beat();
      } else if (realTime) {
        long dueNs = serve();
        sleep(room ? dueNs : Math.min(dueNs, ROOM_NS), !room);
      } else if (idle < IDLE_LOOKS) {
        gather();
      } else {
        sleep(Completions.NEVER, false);
      }
    }
    end();
  }

  private void end() {
    held.forEachHeld(held::end);
    calls.forEach(call -> call.cancel(false));
    if (device != null) {
      device.close();
    }
  }

  /** Performs the entries up to {@code all}; false when the device has no room for the next one. */
  private boolean doAll(long all) {
    // Nobody else changes it.
    long at = done;
    boolean room = true;
    watchdog.beat();
    while (room && at < all && !closing) {
      room = perform((int) (at % CAPACITY));
      if (room) {
        at++;
        done = at;
      }
    }
    watchdog.beat();
    return room;
  }

  private void gather() {
    if (put - done < WAKE_AT && calls.isEmpty() && !closing) {
      LockSupport.parkNanos(this, GATHER_NS);
    }
  }

  /** Sleeps until something is put in, or due; where the device had no room, until it may have. */
  private void sleep(long dueNs, boolean full) {
    asleep = true;
    // Who puts something in either sees that this thread sleeps, or is seen here.
    if ((full || put == done) && calls.isEmpty() && !closing) {
      if (dueNs == Completions.NEVER) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, Math.min(dueNs, samplePeriodNs));
      }
    }
    asleep = false;
  }

  /** False when the device has no room for the command at present. */
  private boolean perform(int at) {
    Origin origin = origins[at];
    try {
      if (!perform(at, origin)) {
        return false;
      }
    } catch (RuntimeException | Error e) {
      origin.broken(e);
      held.complete(tickets[at]);
    }
    origins[at] = null;
    extents[at] = null;
    return true;
  }

  private boolean perform(int at, Origin origin) {
    long ticket = tickets[at];
    switch (opcodes[at]) {
      case WAIT -> waitNow(ticket);
      case FORGET -> forgetNow(ticket);
      case PRELOAD -> {
        long nlb = Integer.toUnsignedLong(nlbs[at]);
        refused(at, origin, device.preload(nsids[at], slbas[at], nlb, directives[at]));
      }
      default -> {
        return submitNow(at, origin, ticket);
      }
    }
    return true;
  }

  private boolean submitNow(int at, Origin origin, long ticket) {
    boolean detached = ticket == 0;
    long given =
        realTime && !detached
            ? device.post(opcodes[at], nsids[at], slbas[at], nlbs[at], directives[at])
            : device.submit(opcodes[at], nsids[at], slbas[at], nlbs[at], directives[at], detached);
    if (given == SimStatus.TIMEOUT && realTime) {
      return false;
    }
    if (refused(at, origin, given)) {
      held.complete(ticket);
    } else if (!detached) {
      int slot = Tickets.slot(ticket);
      if (held.isHeld(slot)) {
        release(slot);
      }
      held.hold(ticket, given, origin, extents[at], opcodes[at], slbas[at]);
    }
    return true;
  }

  private boolean refused(int at, Origin origin, long status) {
    if (status < 0) {
      origin.failed(extents[at], opcodes[at], slbas[at], status, device.lastError());
    }
    return status < 0;
  }

  private void waitNow(long ticket) {
    int slot = held.find(ticket);
    if (slot == Tickets.NONE) {
      return;
    }
    long latency = realTime ? SimStatus.TIMEOUT : device.await(held.simulator(slot), WAIT_NS);
    if (latency == SimStatus.TIMEOUT) {
      release(slot);
    } else {
      ended(slot, latency);
    }
  }

  private void forgetNow(long ticket) {
    int slot = held.find(ticket);
    if (slot != Tickets.NONE) {
      release(slot);
    }
  }

  /** Gives a ticket up; its command runs on. */
  private void release(int slot) {
    device.forget(held.simulator(slot));
    held.end(slot);
  }

  /** The simulator reports a failed command where it is waited for. */
  private void ended(int slot, long outcome) {
    if (outcome < 0) {
      held.fail(slot, outcome, device.lastError());
    } else {
      held.end(slot);
    }
  }

  /**
   * In real-time mode, completes what the simulator has posted, and samples the device.
   *
   * @return wall nanoseconds until more may follow
   */
  private long serve() {
    watchdog.beat();
    try {
      int count;
      do {
        count = reap();
      } while (count == Completions.MAX);
      sample();
      return count < 0 ? ROOM_NS : completions.dueNs();
    } catch (RuntimeException | Error e) {
      held.forEachHeld(
          slot -> {
            held.origin(slot).broken(e);
            held.end(slot);
          });
      return ROOM_NS;
    } finally {
      watchdog.beat();
    }
  }

  private int reap() {
    int count = device.reap(completions);
    if (count < 0 || count > Completions.MAX) {
      long status = count < 0 ? count : SimStatus.TIMEOUT;
      held.forEachHeld(slot -> ended(slot, status));
      return -1;
    }
    for (int i = 0; i < count; i++) {
      int slot = held.findSimulators(completions.ticket(i));
      if (slot != Tickets.NONE) {
        ended(slot, completions.outcome(i));
      }
    }
    return count;
  }

  private void sample() {
    long now = System.nanoTime();
    if (now - sampledNs >= samplePeriodNs) {
      sampledNs = now;
      sampler.accept(device);
    }
  }
}
