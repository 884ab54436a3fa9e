package org.hdfsmeld.datanode.device;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.CommandRing;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;

/**
 * The thread of a device, and the {@link CommandRing} through which HDFS's threads give it commands
 * and see them done.
 *
 * <p>A call into a library cannot be stopped, so no thread of HDFS makes one. In {@code account}
 * mode nobody waits for the device: a ticket that is awaited goes into the ring too, and when its
 * turn has come simulated time moves until its command is done. In {@code real-time} mode who
 * awaits a ticket looks at its slot, and sleeps when it is not due soon.
 */
final class DeviceThread {
  /** What a command was given for. Called by the device's thread; must not wait. */
  interface Origin {
    /**
     * A command was refused, or failed.
     *
     * @param extent what was to be written, if it says so
     * @param opcode one of {@link Opcode}, or {@link CommandRing#PRELOAD}
     * @param slba its first logical block
     */
    void failed(WrittenExtent extent, int opcode, long slba, long status, String error);

    void broken(Throwable e);
  }

  /** In account mode so many entries wake the thread. */
  private static final int WAKE_AT = CommandRing.ENTRIES / 4;

  /**
   * In account mode fewer are gathered for so long, and counters are as old. The blocks that HDFS
   * copies push the simulator's tables out of the processor's caches: for a write of 512 MiB the
   * thread takes 17 ms of a processor when they are gathered for 20 ms, and 12 for 200 ms.
   */
  private static final long GATHER_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** After so many looks at an empty ring the thread sleeps until it is woken. */
  private static final int IDLE_LOOKS = 5;

  /** How often it is seen whether there is room again. */
  private static final long ROOM_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** After so long the library returns, for calls of others. */
  private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** A call is given up after so many looks, which is after 10 s; sooner in tests that hang. */
  static final int LOOKS = Integer.getInteger("org.hdfsmeld.looks", 100);

  final CommandRing ring = new CommandRing();
  private final Watchdog watchdog;
  private final DeviceCalls calls;
  private final Consumer<SimDevice> publisher;
  private final long periodNs;
  private final long spinNs;
  private final Thread thread;

  // By slot: to whom a failure is told, and the thread that sleeps for the ticket.
  private final Origin[] origins = new Origin[CommandRing.SLOTS];
  private final WrittenExtent[] extents = new WrittenExtent[CommandRing.SLOTS];
  private final AtomicReferenceArray<Thread> waiters =
      new AtomicReferenceArray<>(CommandRing.SLOTS);

  private volatile boolean asleep;
  private volatile boolean closing;
  private volatile boolean realTime;
  private SimDevice device;

  /** Whether the counters have changed since they were published, and when that was. */
  private volatile boolean unpublished;

  private long publishedNs = System.nanoTime();

  /** Outcomes that the library has posted at last. */
  private int posted;

  /** Tickets up to this one are done, or have another's slot. */
  private long swept;

  /**
   * A queue without a device; {@link #open} gives it one.
   *
   * @param name the device's name, for people
   * @param spinNs how long the thread, and who awaits a ticket, looks before it sleeps, in
   *     real-time mode
   * @param publisher publishes the device's counters. The thread calls it when they have changed,
   *     once in {@code periodNs}, and before each {@link #call}
   * @param watchdog its own, which gives calls up
   */
  DeviceThread(
      String name, long spinNs, Consumer<SimDevice> publisher, long periodNs, Watchdog watchdog) {
    this.watchdog = watchdog;
    this.calls = new DeviceCalls(watchdog, () -> device);
    this.spinNs = spinNs;
    this.publisher = publisher;
    this.periodNs = periodNs;
    watchdog.progress(ring::taken, () -> ring.claimed() != ring.taken() && !ring.isReady());
    this.thread = new Thread(this::run, "meld-device-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Puts in a command. Never waits.
   *
   * @param extent what is written, or null
   * @param opcode one of {@link Opcode}, {@link CommandRing#PRELOAD} or {@link CommandRing#WAIT}
   * @return a ticket, {@link TicketedIo#NOTHING} when detached, or a status below 0: {@link
   *     SimStatus#TIMEOUT} when there is no room. What only the device knows, the origin hears.
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
    if (closing) {
      return SimStatus.CLOSED;
    }
    watchdog.check();
    long at = ring.claim();
    if (at < 0) {
      return SimStatus.TIMEOUT;
    }
    int slot = CommandRing.slot(at + 1);
    origins[slot] = origin;
    extents[slot] = extent;
    ring.publish(at, opcode, nsid, slba, nlb, directive, detached);
    if (asleep || (at + 1) % WAKE_AT == 0) {
      asleep = false;
      LockSupport.unpark(thread);
    }
    return detached ? TicketedIo.NOTHING : at + 1;
  }

  boolean hasRoom() {
    return ring.claimed() - ring.taken() < CommandRing.ENTRIES;
  }

  /** Whether something has been put in or done that the published counters lack. */
  boolean isUnpublished() {
    return unpublished || ring.claimed() != ring.taken();
  }

  /**
   * Waits for a ticket, in real-time mode; in account mode puts in that it is waited for.
   *
   * @return whether that is done; false after {@code timeoutNs}, when the thread is interrupted, or
   *     when a millisecond has brought no room
   */
  boolean await(Origin origin, long ticket, long timeoutNs) {
    boolean ended;
    if (realTime) {
      ended = awaitDone(ticket, timeoutNs);
    } else {
      // What waits is nobody's, but a failure is told.
      ended =
          submit(origin, null, CommandRing.WAIT, 0, ticket, 0, Directive.NONE, true)
              != SimStatus.TIMEOUT;
      if (!ended) {
        LockSupport.parkNanos(this, Math.min(ROOM_NS, timeoutNs));
      }
    }
    if (!ended) {
      watchdog.check();
    }
    return ended;
  }

  /** Looks while the command is due soon, but no longer than a thread may spin; then sleeps. */
  private boolean awaitDone(long ticket, long timeoutNs) {
    if (!ring.isPending(ticket)) {
      return true;
    }
    Thread self = Thread.currentThread();
    int slot = CommandRing.slot(ticket);
    long begin = System.nanoTime();
    long now = begin;
    long spin = spinNs;
    while (ring.isPending(ticket) && now - begin < timeoutNs && !self.isInterrupted()) {
      long left = timeoutNs - (now - begin);
      long dueNs = ring.taken() < ticket ? 0 : ring.dueNs() - now;
      if (spin > 0 && dueNs <= spin) {
        long until = now + Math.min(spin, left);
        while (ring.isPending(ticket) && System.nanoTime() - until < 0) {
          Thread.onSpinWait();
        }
        spin -= System.nanoTime() - now;
      } else {
        waiters.set(slot, self);
        ring.sleeps(ticket);
        if (ring.isPending(ticket)) {
          LockSupport.parkNanos(this, spin > 0 ? Math.min(left, dueNs - spin) : left);
        }
      }
      now = System.nanoTime();
    }
    waiters.compareAndSet(slot, self, null);
    return !ring.isPending(ticket);
  }

  /** Blocks of which the device may not have all that was put in. By the device's thread. */
  Set<BlockKey> unacknowledged() {
    Set<BlockKey> blocks = new HashSet<>();
    long taken = ring.taken();
    for (long ticket = swept + 1; ticket <= ring.claimed(); ticket++) {
      WrittenExtent extent = extents[CommandRing.slot(ticket)];
      if (extent != null && (ticket > taken || ring.isPending(ticket))) {
        blocks.add(extent.key());
      }
    }
    return blocks;
  }

  /**
   * Opens the device.
   *
   * @throws SimException when that fails
   * @throws IllegalStateException when it does not come back
   */
  void open(SimDeviceOpener opener) throws SimException {
    this.<Void, SimException>call(
        DeviceCalls.PATIENCE,
        none -> {
          SimDevice opened = opener.open();
          opened.attach(ring);
          if (device != null) {
            device.close();
          }
          device = opened;
          return null;
        });
  }

  /** Makes a call after all that was put in before; see {@link DeviceCalls#make}. */
  <T, E extends Exception> T call(DeviceCalls.Call<T, E> call) throws E {
    return call(1, call);
  }

  /** As {@link #call}, of a call that may take so many times as long as others. */
  <T, E extends Exception> T call(int longer, DeviceCalls.Call<T, E> call) throws E {
    return calls.make(longer, call, () -> LockSupport.unpark(thread));
  }

  /**
   * Changes who moves time, after all that was put in before. Who awaits a ticket goes on: what was
   * accounted is complete, and what was paced need not be waited for.
   *
   * @throws SimException when the device refuses it
   */
  void setMode(boolean newRealTime, double timeDilation) throws SimException {
    this.<Void, SimException>call(
        DeviceCalls.PATIENCE,
        target -> {
          target.checked(target.setMode(newRealTime, timeDilation));
          if (realTime != newRealTime) {
            realTime = newRealTime;
            sleepPrecisely();
            forEachTaken(this::end);
          }
          return null;
        });
  }

  private static void sleepPrecisely() {
    try {
      LibC.sleepPrecisely();
    } catch (LinkageError e) {
      // Without the call of Linux, it wakes a little later.
    }
  }

  /** Ends the device. What is not done then is left undone, and who waits goes on. */
  void close() {
    closing = true;
    calls.close();
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

  private void run() {
    try {
      serve();
    } catch (RuntimeException | Error e) {
      watchdog.ended(e);
    } finally {
      calls.close();
      forEachPending(ring.claimed(), this::end);
      if (device != null) {
        device.close();
      }
    }
  }

  private void serve() {
    int idle = 0;
    long dueNs = CommandRing.NEVER;
    while (!closing) {
      // Comes after what was put in before it, as far as the device had room for that.
      FutureTask<?> call = calls.next();
      idle = ring.isReady() ? 0 : idle + 1;
      if (idle == 0 || (realTime && dueNs != CommandRing.NEVER)) {
        unpublished = true;
      }
      dueNs = device == null ? CommandRing.NEVER : drain(ring.claimed(), call == null);
      long laterNs = publish(call != null);
      if (call != null) {
        watchdog.beat();
        call.run();
        watchdog.beat();
        unpublished = true;
      } else if (realTime) {
        sleep(Math.min(ring.isFull() ? Math.min(dueNs, ROOM_NS) : dueNs, laterNs));
      } else if (idle < IDLE_LOOKS) {
        gather(Math.min(GATHER_NS, laterNs));
      } else {
        sleep(laterNs);
      }
    }
  }

  /**
   * Has the library take what was put in, as far as it gets on.
   *
   * @param all at least so many commands, where there is room for them
   * @param stays whether to stay while commands end, until a call or the counters are due
   * @return wall nanoseconds until there is more to do
   */
  private long drain(long all, boolean stays) {
    long before;
    long dueNs;
    do {
      before = ring.taken();
      boolean ready = ring.isReady();
      dueNs = runRing();
      if (ready && dueNs > 0 && ring.taken() == before && !ring.isFull()) {
        IllegalStateException e =
            new IllegalStateException("the simulator takes nothing from its ring");
        failAll(ticket -> broken(ticket, e));
      }
    } while ((posted > 0 && stays && isNothingAsked() && !isPublishingDue())
        || (ring.taken() < all && ring.taken() > before));
    sweep();
    return dueNs;
  }

  private long runRing() {
    posted = 0;
    watchdog.beat();
    try {
      long dueNs = device.runRing(spinNs, LONGEST_NS);
      if (dueNs < 0) {
        String error = device.lastError();
        failAll(ticket -> failed(ticket, dueNs, error));
        return ring.isReady() ? 0 : CommandRing.NEVER;
      }
      posted = ring.takePosted();
      for (int i = 0; i < posted; i++) {
        long ticket = ring.postedTicket(i);
        if (ring.outcome(i) < 0) {
          failed(ticket, ring.outcome(i), device.lastError());
        }
        end(ticket);
      }
      return dueNs;
    } catch (RuntimeException | Error e) {
      failAll(ticket -> broken(ticket, e));
      return ring.isReady() ? 0 : CommandRing.NEVER;
    } finally {
      watchdog.beat();
    }
  }

  private void broken(long ticket, Throwable e) {
    Origin origin = origins[CommandRing.slot(ticket)];
    if (origin != null && ring.isKnown(ticket)) {
      origin.broken(e);
    }
  }

  private void failed(long ticket, long status, String error) {
    int slot = CommandRing.slot(ticket);
    Origin origin = origins[slot];
    if (origin != null && ring.isKnown(ticket)) {
      origin.failed(extents[slot], ring.opcode(ticket), ring.slba(ticket), status, error);
    }
  }

  /** The library has failed at the entry that it was at, and in real-time mode at all others. */
  private void failAll(LongConsumer tell) {
    if (ring.isReady()) {
      long ticket = ring.taken() + 1;
      tell.accept(ticket);
      end(ticket);
      ring.skip();
    }
    if (realTime && swept < ring.taken()) {
      forEachTaken(
          ticket -> {
            tell.accept(ticket);
            end(ticket);
          });
    }
  }

  private void end(long ticket) {
    ring.end(ticket);
    Thread waiter = waiters.get(CommandRing.slot(ticket));
    if (waiter != null) {
      LockSupport.unpark(waiter);
    }
  }

  private void forEachTaken(LongConsumer action) {
    forEachPending(ring.taken(), action);
  }

  private void forEachPending(long last, LongConsumer action) {
    for (int slot = 0; slot < CommandRing.SLOTS; slot++) {
      long ticket = ring.pendingIn(slot);
      if (ticket > 0 && ticket <= last) {
        action.accept(ticket);
      }
    }
  }

  /** Keeps nothing of commands that are done, as far as all before them are. */
  private void sweep() {
    long taken = ring.taken();
    while (swept < taken && !ring.isPending(swept + 1)) {
      swept++;
      if (swept > taken - CommandRing.SLOTS + CommandRing.ENTRIES) {
        origins[CommandRing.slot(swept)] = null;
        extents[CommandRing.slot(swept)] = null;
      }
    }
  }

  /**
   * Publishes counters that have changed, once in a period or at once.
   *
   * @return nanoseconds until it is time for that; {@link CommandRing#NEVER} when nothing is left
   */
  private long publish(boolean atOnce) {
    if (!unpublished || device == null) {
      return CommandRing.NEVER;
    }
    long leftNs = periodNs - (System.nanoTime() - publishedNs);
    if (leftNs > 0 && !atOnce) {
      return leftNs;
    }
    watchdog.beat();
    try {
      publisher.accept(device);
    } catch (RuntimeException | Error e) {
      // Counters are for people; who waits for commands is told when one of them fails.
    } finally {
      watchdog.beat();
      publishedNs = System.nanoTime();
      unpublished = false;
    }
    return CommandRing.NEVER;
  }

  private boolean isPublishingDue() {
    return unpublished && System.nanoTime() - publishedNs >= periodNs;
  }

  private boolean isNothingAsked() {
    return calls.isEmpty() && !closing;
  }

  private void gather(long longestNs) {
    if (ring.claimed() - ring.taken() < WAKE_AT && isNothingAsked()) {
      LockSupport.parkNanos(this, longestNs);
    }
  }

  /** Sleeps until something is put in, or due; where the device had no room, until it may have. */
  private void sleep(long dueNs) {
    asleep = true;
    // Who puts something in either sees that this thread sleeps, or is seen here.
    if (dueNs > 0 && (ring.isFull() || !ring.isReady()) && isNothingAsked()) {
      if (dueNs == CommandRing.NEVER) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, Math.min(dueNs, periodNs));
      }
    }
    asleep = false;
  }
}
