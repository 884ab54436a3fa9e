package org.hdfsmeld.datanode.device;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimStatus;

/**
 * Commands that one thread gives to a device, in the order in which HDFS's threads left them here.
 *
 * <p>For {@code account} mode, in which nobody waits for the device: to read or write a block costs
 * HDFS an entry in a ring, and the simulation is done beside it. A ticket is not waited for but
 * settled: when its turn has come, simulated time moves until its command is done, as it would have
 * for a caller that waits. Whether a command succeeds is known later; its {@link Issuer} hears.
 *
 * <p>Bounded: {@value #CAPACITY} entries, after which there is no room until the thread has caught
 * up, and {@value #TICKETS} tickets. Putting in an entry allocates nothing.
 */
final class DeferredCommands implements AutoCloseable {
  /** Who gave a command. Called by this object's thread; must not wait. */
  interface Issuer {
    /**
     * A command was refused, or failed.
     *
     * @param opcode one of {@link Opcode}, or below 0 where waiting for a command failed
     */
    void failed(int opcode, long slba, long status, String error);

    /** The binding threw. */
    void broken(Throwable e);
  }

  private static final int CAPACITY = 4096;

  /** Tickets that may be held; one given out before so many others is given up. */
  private static final int TICKETS = 1 << 16;

  /** So many entries wake the thread. */
  private static final int WAKE_AT = CAPACITY / 4;

  /**
   * Fewer are gathered for so long. The blocks that HDFS copies push the simulator's tables out of
   * the processor's caches: for a write of 512 MiB the thread takes 17 ms of a processor when they
   * are gathered for 20 ms, and 12 for 200 ms.
   */
  private static final long GATHER_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** After so many looks at an empty ring the thread sleeps until it is woken. */
  private static final int IDLE_LOOKS = 5;

  /** In account mode a wait ends by itself; this is for one that the mode has changed under. */
  private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(1);

  private static final int SETTLE = -1;
  private static final int FORGET = -2;

  private final SimDevice device;
  private final BoundedCalls calls;
  private final Thread thread;

  private final Issuer[] issuers = new Issuer[CAPACITY];
  private final int[] opcodes = new int[CAPACITY];
  private final int[] nsids = new int[CAPACITY];
  private final long[] slbas = new long[CAPACITY];
  private final int[] nlbs = new int[CAPACITY];
  private final int[] directives = new int[CAPACITY];
  private final long[] tickets = new long[CAPACITY];

  /** Entries done, and entries put in; the second changes under this object's monitor only. */
  private volatile long done;

  private volatile long put;
  private volatile boolean asleep;
  private volatile boolean closed;

  /** Who waits for all entries so far; under this object's monitor. */
  private int drainers;

  /** The last ticket given out. */
  private int lastTicket;

  /** What a look has seen; see {@link BoundedCalls#looks}. */
  private long lookedAtNs = System.nanoTime();

  private long seenDone;
  private int looksInVain;

  /** The device's tickets and those of ours that they stand for; the thread's own. */
  private final long[] deviceTickets = new long[TICKETS];

  private final long[] ourTickets = new long[TICKETS];

  /**
   * Begins to give commands to {@code device}.
   *
   * @param name the device's name, for people
   * @param calls where it is known that the device hangs
   */
  DeferredCommands(String name, SimDevice device, BoundedCalls calls) {
    this.device = device;
    this.calls = calls;
    this.thread = new Thread(this::run, "meld-device-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Whether a ticket is one of these; the device's own have a number in their lower half. */
  static boolean owns(long ticket) {
    return ticket > 0 && (int) ticket == 0;
  }

  /**
   * Puts in a command. Never waits.
   *
   * @return as of {@link SimDevice#submit}, but for what only the device knows: that the issuer
   *     hears
   */
  long submit(
      Issuer issuer, int opcode, int nsid, long slba, int nlb, int directive, boolean detached) {
    return put(issuer, opcode, nsid, slba, nlb, directive, detached ? 0 : -1);
  }

  /** Puts in that simulated time moves until the ticket's command is done; the ticket ends. */
  void settle(Issuer issuer, long ticket) {
    put(issuer, SETTLE, 0, 0, 0, 0, ticket);
  }

  /** Puts in that nobody waits for the ticket any more. */
  void forget(Issuer issuer, long ticket) {
    put(issuer, FORGET, 0, 0, 0, 0, ticket);
  }

  private synchronized long put(
      Issuer issuer, int opcode, int nsid, long slba, int nlb, int directive, long ticket) {
    if (closed) {
      return SimStatus.CLOSED;
    }
    look();
    if (put - done == CAPACITY) {
      return SimStatus.TIMEOUT;
    }
    int at = (int) (put % CAPACITY);
    issuers[at] = issuer;
    opcodes[at] = opcode;
    nsids[at] = nsid;
    slbas[at] = slba;
    nlbs[at] = nlb;
    directives[at] = directive;
    tickets[at] = ticket < 0 ? newTicket() : ticket;
    long given = tickets[at];
    put = put + 1;
    if (asleep || put % WAKE_AT == 0) {
      LockSupport.unpark(thread);
    }
    return given;
  }

  private long newTicket() {
    lastTicket = lastTicket == Integer.MAX_VALUE ? 1 : lastTicket + 1;
    return (long) lastTicket << Integer.SIZE;
  }

  /** Who puts in entries finds out that none is done any more. Under this object's monitor. */
  private void look() {
    long now = System.nanoTime();
    if (now - lookedAtNs < TimeUnit.MILLISECONDS.toNanos(BoundedCalls.LOOK_MS)) {
      return;
    }
    lookedAtNs = now;
    looksInVain = done == seenDone && put > done ? looksInVain + 1 : 0;
    seenDone = done;
    if (looksInVain >= calls.looks()) {
      throw calls.giveUp();
    }
  }

  /**
   * Waits until everything put in so far is done. An interrupt does not end the wait, and stays
   * set.
   *
   * @throws IllegalStateException when the device hangs
   */
  void drain() {
    long all = put;
    if (done < all) {
      drain(all);
    }
  }

  private synchronized void drain(long all) {
    boolean interrupted = false;
    drainers++;
    LockSupport.unpark(thread);
    try {
      while (done < all && !closed) {
        try {
          wait(BoundedCalls.LOOK_MS);
          look();
        } catch (InterruptedException e) {
          interrupted = true;
        }
        if (calls.isHanging()) {
          throw calls.giveUp();
        }
      }
    } finally {
      drainers--;
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Ends the thread. What is not done then is left undone. */
  @Override
  public synchronized void close() {
    closed = true;
    LockSupport.unpark(thread);
    notifyAll();
  }

  private void run() {
    int idle = 0;
    while (!closed) {
      long all = put;
      if (done < all) {
        doAll(all);
        idle = 0;
      } else {
        idle++;
      }
      rest(idle);
    }
  }

  private void doAll(long all) {
    // Nobody else changes it.
    long at = done;
    while (at < all && !closed) {
      perform((int) (at % CAPACITY));
      at++;
      done = at;
    }
    synchronized (this) {
      if (drainers > 0) {
        notifyAll();
      }
    }
  }

  private void rest(int idle) {
    if (idle < IDLE_LOOKS) {
      if (put - done < WAKE_AT) {
        LockSupport.parkNanos(this, GATHER_NS);
      }
      return;
    }
    asleep = true;
    // Who puts something in either sees that this thread sleeps, or is seen here.
    if (put == done && !closed) {
      LockSupport.park(this);
    }
    asleep = false;
  }

  private void perform(int at) {
    Issuer issuer = issuers[at];
    issuers[at] = null;
    try {
      switch (opcodes[at]) {
        case SETTLE -> settleNow(issuer, tickets[at]);
        case FORGET -> forgetNow(tickets[at]);
        default -> submitNow(issuer, at);
      }
    } catch (RuntimeException | Error e) {
      issuer.broken(e);
    }
  }

  private void submitNow(Issuer issuer, int at) {
    boolean detached = tickets[at] == 0;
    long given =
        device.submit(opcodes[at], nsids[at], slbas[at], nlbs[at], directives[at], detached);
    if (given < 0) {
      issuer.failed(opcodes[at], slbas[at], given, device.lastError());
    } else if (!detached) {
      int slot = slot(tickets[at]);
      if (ourTickets[slot] != 0) {
        device.forget(deviceTickets[slot]);
      }
      ourTickets[slot] = tickets[at];
      deviceTickets[slot] = given;
    }
  }

  private void settleNow(Issuer issuer, long ticket) {
    if (!take(ticket)) {
      return;
    }
    long ofDevice = deviceTickets[slot(ticket)];
    long latency = device.await(ofDevice, SETTLE_NS);
    if (latency == SimStatus.TIMEOUT) {
      device.forget(ofDevice);
    } else if (latency < 0) {
      issuer.failed(SETTLE, 0, latency, device.lastError());
    }
  }

  private void forgetNow(long ticket) {
    if (take(ticket)) {
      device.forget(deviceTickets[slot(ticket)]);
    }
  }

  /** False when the command was refused, or its ticket given up. */
  private boolean take(long ticket) {
    int slot = slot(ticket);
    boolean held = ourTickets[slot] == ticket;
    if (held) {
      ourTickets[slot] = 0;
    }
    return held;
  }

  private static int slot(long ticket) {
    return (int) (ticket >>> Integer.SIZE) % TICKETS;
  }
}
