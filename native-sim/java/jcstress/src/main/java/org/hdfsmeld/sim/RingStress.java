package org.hdfsmeld.sim;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * {@link CommandRing} on the memory model of the machine: what threads put in, and who sleeps. The
 * library's side is here as {@code ring.rs} has it.
 */
final class RingStress {
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** A ring is 0.8 MB: so many are used in turn, more than a stride and an epoch have states. */
  private static final int RINGS = 128;

  private static final CommandRing[] RINGS_IN_TURN = new CommandRing[RINGS];
  private static int next;

  private RingStress() {}

  private static synchronized CommandRing ring() {
    int at = next++ % RINGS;
    if (RINGS_IN_TURN[at] == null) {
      RINGS_IN_TURN[at] = new CommandRing();
    }
    return RINGS_IN_TURN[at];
  }

  /** The logical block of the entry at the head, which is taken; -1 when there is none. */
  private static int take(CommandRing ring) {
    if (!ring.isReady()) {
      return -1;
    }
    ByteBuffer entry =
        ring.memory()
            .slice(CommandRing.entry(ring.taken()), CommandRing.LINE)
            .order(ByteOrder.nativeOrder());
    int nlb = entry.getInt(12);
    int slba = (int) entry.getLong(16);
    ring.skip();
    return nlb == slba ? slba : -2;
  }

  /** As the library looks after a command is done. */
  private static boolean isAwaited(CommandRing ring, long ticket) {
    int waiter = CommandRing.slotAt(ticket) + CommandRing.WAITER;
    return (long) WORDS.getVolatile(ring.memory(), waiter) != 0;
  }

  private static void put(CommandRing ring, int value) {
    ring.publish(ring.claim(), Opcode.READ, 1, value, value, Directive.NONE, true);
  }

  /** Two callers and the device's thread: each entry is whole, and none is lost. */
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "both, whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "one is torn or lost")
  @State
  public static class Entries {
    private final CommandRing ring = ring();
    private int first = -1;

    @Actor
    public void one() {
      put(ring, 1);
    }

    @Actor
    public void two() {
      put(ring, 2);
    }

    @Actor
    public void device() {
      first = take(ring);
    }

    @Arbiter
    public void rest(II_Result result) {
      result.r1 = first >= 0 || first == -2 ? first : take(ring);
      result.r2 = take(ring);
    }
  }

  /** Who puts in sees that the device's thread sleeps, or is seen by it. */
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 0", "1, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "one sees the other")
  @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "it sleeps for ever")
  @State
  public static class SleepOfTheDevice {
    private final CommandRing ring = ring();
    private volatile boolean asleep;

    @Actor
    public void caller(II_Result result) {
      put(ring, 1);
      result.r1 = asleep ? 1 : 0;
    }

    @Actor
    public void device(II_Result result) {
      asleep = true;
      result.r2 = ring.isReady() ? 1 : 0;
    }

    @Arbiter
    public void rest() {
      take(ring);
    }
  }

  /** Who sleeps for an outcome sees it, or is seen by whom it is done. */
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 0", "1, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "one sees the other")
  @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "it sleeps for ever")
  @State
  public static class SleepOfACaller {
    private final CommandRing ring = ring();
    private final long ticket = ring.claim() + 1;

    public SleepOfACaller() {
      ring.publish(ticket - 1, Opcode.READ, 1, 1, 1, Directive.NONE, false);
      take(ring);
    }

    @Actor
    public void caller(II_Result result) {
      ring.sleeps(ticket);
      result.r1 = ring.isPending(ticket) ? 0 : 1;
    }

    @Actor
    public void device(II_Result result) {
      ring.end(ticket);
      result.r2 = isAwaited(ring, ticket) ? 1 : 0;
    }
  }

  /** What a slot says of its command is there when the entry is. */
  @JCStressTest
  @Outcome(
      id = {"-1", "7"},
      expect = Expect.ACCEPTABLE,
      desc = "nothing yet, or all of it")
  @Outcome(expect = Expect.FORBIDDEN, desc = "of another command")
  @State
  public static class Slot {
    private final CommandRing ring = ring();

    @Actor
    public void caller() {
      put(ring, 7);
    }

    @Actor
    public void device(I_Result result) {
      long ticket = ring.taken() + 1;
      result.r1 = ring.isReady() ? (int) (ring.isKnown(ticket) ? ring.slba(ticket) : -2) : -1;
    }

    @Arbiter
    public void rest(I_Result result) {
      take(ring);
    }
  }
}
