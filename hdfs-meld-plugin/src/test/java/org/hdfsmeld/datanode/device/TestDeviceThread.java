package org.hdfsmeld.datanode.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.CommandRing;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What HDFS's threads leave to the thread of a device. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestDeviceThread {
  private static final int CAPACITY = 4096;
  private static final String ENDED =
      "the device's thread has ended: java.lang.OutOfMemoryError: Direct buffer memory";
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);
  private static final long FOREVER = Long.MAX_VALUE;
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(Watchdog.LOOK_MS);

  /**
   * The watchdog's time stands still but where a test lets it pass, however slow the machine is.
   */
  private final AtomicLong clock = new AtomicLong();

  private volatile LongSupplier time = clock::get;

  /** Who reads without an end; null for nobody. */
  private volatile Thread busy;

  private final FakeDevice device =
      new FakeDevice() {
        @Override
        public long runRing(long spinNs, long longestNs) {
          // As a library that spins until it has somebody to wake.
          for (Thread reader = busy;
              reader != null
                  && !(queue.ring.isReady() && reader.getState() == Thread.State.TIMED_WAITING);
              reader = busy) {
            Thread.onSpinWait();
          }
          return super.runRing(spinNs, longestNs);
        }
      };

  private final AtomicInteger published = new AtomicInteger();
  private volatile Consumer<SimDevice> publisher = target -> {};
  private final DeviceThread queue =
      new DeviceThread(
          "test",
          0,
          target -> {
            published.incrementAndGet();
            publisher.accept(target);
          },
          1_000_000,
          new Watchdog(3, () -> time.getAsLong()));
  private final CountDownLatch hang = new CountDownLatch(1);
  private final List<String> failures = new ArrayList<>();
  private final List<Long> lost = new ArrayList<>();
  private final WrittenExtent extent =
      new WrittenExtent() {
        @Override
        public BlockKey key() {
          return BLOCK;
        }

        @Override
        public void lost(long slba) {
          lost.add(slba);
        }
      };

  private final DeviceThread.Origin origin =
      new DeviceThread.Origin() {
        @Override
        public void failed(
            WrittenExtent written, int opcode, long slba, long status, String error) {
          failures.add(opcode + " " + slba + " " + status + " " + error);
          if (written != null) {
            written.lost(slba);
          }
        }

        @Override
        public void broken(Throwable e) {
          failures.add(e.getMessage());
        }
      };

  @BeforeEach
  void open() throws SimException {
    queue.open(() -> device);
    device.drain = this::drain;
  }

  @AfterEach
  void close() {
    hang.countDown();
    queue.close();
  }

  /** A call comes after all that was put in before. */
  private void drain() {
    queue.<List<String>, RuntimeException>call(SimDevice::statNames);
  }

  private long submit(int opcode, long slba, boolean detached) {
    WrittenExtent written = opcode == Opcode.WRITE ? extent : null;
    return queue.submit(origin, written, opcode, 1, slba, 1, Directive.NONE, detached);
  }

  /** The device's next call never returns, and each look at it counts. */
  private void hangNext() {
    device.before = FakeDevice.hang(hang);
    time = () -> clock.addAndGet(LOOK_NS);
  }

  private Thread awaiting(long ticket) {
    Thread thread = new Thread(() -> queue.await(origin, ticket, FOREVER));
    thread.start();
    return thread;
  }

  @Test
  void commandsReachTheDeviceInTheirOrder() {
    List<FakeDevice.Command> expected = new ArrayList<>();
    for (int i = 0; i < 3 * CAPACITY; i++) {
      int opcode = i % 3 == 0 ? Opcode.WRITE : Opcode.READ;
      boolean detached = i % 2 == 0;
      long ticket = submit(opcode, i, detached);
      assertThat(ticket == TicketedIo.NOTHING).isEqualTo(detached);
      expected.add(
          new FakeDevice.Command(
              opcode, (long) i * FakeDevice.PAGE, FakeDevice.PAGE, Directive.NONE, detached));
      if (!detached) {
        assertThat(queue.await(origin, ticket, 0)).as("nobody waits").isTrue();
      }
      if (i % 1000 == 0) {
        drain();
      }
    }
    assertThat(device.commands()).isEqualTo(expected);
    assertThat(device.open()).isEmpty();
    assertThat(failures).isEmpty();
  }

  @Test
  void commandsOfManyThreadsKeepTheOrderOfEach() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      long base = t * 1_000_000L;
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 20_000; i++) {
                  while (submit(Opcode.READ, base + i, true) == SimStatus.TIMEOUT) {
                    Thread.onSpinWait();
                  }
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    long[] next = new long[4];
    for (FakeDevice.Command command : device.commands()) {
      long slba = command.offset() / FakeDevice.PAGE;
      int thread = (int) (slba / 1_000_000);
      assertThat(slba % 1_000_000).isEqualTo(next[thread]++);
    }
    assertThat(next).containsOnly(20_000);
  }

  @Test
  void commandsThatNobodyAsksForReachTheDeviceSoon() {
    for (int i = 1; i <= 3; i++) {
      CountDownLatch reached = new CountDownLatch(1);
      device.before = reached::countDown;
      submit(Opcode.READ, 0, true);
      await().until(() -> reached.getCount() == 0);
    }
  }

  @Test
  void aFailureIsToldToTheOriginAndWhatWasToBeWritten() throws SimException {
    device.fail(SimStatus.RANGE);
    long ticket = submit(Opcode.WRITE, 7, false);
    queue.await(origin, ticket, 0);
    device.fail(0);
    device.thrown = new IllegalStateException("broken binding");
    submit(Opcode.READ, 8, true);
    drain();
    device.thrown = null;
    long failing = submit(Opcode.WRITE, 9, false);
    device.fail(SimStatus.CAPACITY);
    queue.await(origin, failing, 0);
    drain();
    assertThat(failures)
        .containsExactly(
            Opcode.WRITE + " 7 " + SimStatus.RANGE + " the fake's error",
            "broken binding",
            Opcode.WRITE + " 9 " + SimStatus.CAPACITY + " the fake's error");
    assertThat(lost).containsExactly(7L, 9L);
  }

  /** A snapshot has to know of writes that nobody waits for, too. */
  @Test
  void aWriteIsKnownUntilTheDeviceHasDoneIt() throws SimException {
    queue.setMode(true, 1);
    device.stuck = true;
    assertThat(queue.await(origin, submit(Opcode.WRITE, 0, false), 1)).isFalse();
    submit(Opcode.READ, 2, false);
    assertThat(queue.<Set<BlockKey>, RuntimeException>call(target -> queue.unacknowledged()))
        .containsExactly(BLOCK);
    device.stuck = false;
    drain();
    submit(Opcode.WRITE, 1, true);
    drain();
    assertThat(queue.<Set<BlockKey>, RuntimeException>call(target -> queue.unacknowledged()))
        .isEmpty();
  }

  @Test
  void ticketsThatNobodyComesForAreBounded() {
    long first = submit(Opcode.READ, 0, false);
    for (int i = 0; i < CommandRing.SLOTS + 10; i++) {
      while (submit(Opcode.READ, 0, false) == SimStatus.TIMEOUT) {
        drain();
      }
    }
    assertThat(device.open()).hasSize(CommandRing.SLOTS);
    queue.await(origin, first, 0);
    assertThat(device.open()).hasSize(CommandRing.SLOTS);
    assertThat(failures).isEmpty();
  }

  @Test
  void thereIsNoRoomBehindADeviceThatIsSlow() {
    device.before = FakeDevice.hang(hang);
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(submit(Opcode.READ, i, true)).isZero();
    }
    assertThat(queue.hasRoom()).isFalse();
    assertThat(submit(Opcode.READ, CAPACITY, true)).isEqualTo(SimStatus.TIMEOUT);
    hang.countDown();
    drain();
    assertThat(submit(Opcode.READ, CAPACITY, true)).isZero();
    assertThat(device.commands()).hasSize(CAPACITY + 1);
  }

  /** What has no room is not dropped without a word: who awaits hears it, and tries again. */
  @Test
  void aWaitThatFindsNoRoomSaysSo() {
    long ticket = submit(Opcode.READ, 0, false);
    drain();
    device.before = FakeDevice.hang(hang);
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(submit(Opcode.READ, i, true)).isZero();
    }
    assertThat(queue.await(origin, ticket, 1)).isFalse();
    hang.countDown();
    drain();
    assertThat(queue.await(origin, ticket, 1)).isTrue();
    assertThat(device.open()).isEmpty();
  }

  @Test
  void aCallFindsPublishedWhatWasPutInBefore() {
    AtomicLong seen = new AtomicLong();
    publisher = target -> seen.set(((FakeDevice) target).taken());
    for (int i = 1; i <= 3; i++) {
      submit(Opcode.READ, i, true);
      drain();
      assertThat(seen).hasValue(i);
    }
  }

  @Test
  void countersArePublishedWithoutBeingAskedFor() {
    AtomicLong seen = new AtomicLong();
    publisher = target -> seen.set(((FakeDevice) target).taken());
    submit(Opcode.READ, 0, true);
    await().until(() -> seen.get() == 1);
  }

  @Test
  void whoCallsDoesNotWaitForAHang() {
    hangNext();
    submit(Opcode.READ, 0, true);
    Thread.currentThread().interrupt();
    assertThatThrownBy(this::drain).hasMessageContaining("hangs");
    assertThat(Thread.interrupted()).isTrue();
    assertThatThrownBy(() -> submit(Opcode.READ, 0, true)).hasMessageContaining("hangs");
  }

  /** Nobody need wait for the device for a hang to be found. */
  @Test
  void whoPutsInFindsAHang() {
    hangNext();
    assertThatThrownBy(
            () -> {
              while (true) {
                submit(Opcode.READ, 0, true);
                Thread.onSpinWait();
              }
            })
        .hasMessageContaining("hangs");
  }

  @Test
  void whoAwaitsFindsAHang() throws SimException {
    queue.setMode(true, 1);
    hangNext();
    long ticket = submit(Opcode.READ, 0, false);
    assertThatThrownBy(
            () -> {
              while (true) {
                queue.await(origin, ticket, 10_000_000);
              }
            })
        .hasMessageContaining("hangs");
  }

  /** A device of a large snapshot takes longer to open than any call. */
  @Test
  void openingHasMorePatience() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch opening = new CountDownLatch(1);
    Thread opener =
        new Thread(
            () -> {
              try {
                queue.open(
                    () -> {
                      begun.countDown();
                      FakeDevice.hang(opening).run();
                      return device;
                    });
              } catch (SimException e) {
                throw new IllegalStateException(e);
              }
            });
    opener.start();
    begun.await();
    // Each is a look: three are too many for a call.
    for (int i = 0; i < 5; i++) {
      clock.addAndGet(LOOK_NS);
      assertThat(submit(Opcode.READ, i, true)).isZero();
    }
    opening.countDown();
    opener.join();
    assertThat(device.commands()).hasSize(5);
  }

  @Test
  void inRealTimeWhoAwaitsGoesOnWhenTheSimulatorHasPosted() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    long ticket = submit(Opcode.READ, 0, false);
    assertThat(queue.await(origin, ticket, 1)).isFalse();
    Thread waiting = awaiting(ticket);
    await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    device.stuck = false;
    waiting.join();
    assertThat(device.open()).isEmpty();
    assertThat(queue.await(origin, ticket, FOREVER)).as("is done").isTrue();
  }

  @Test
  void inRealTimeAFailureEndsTheWaitOfAll() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    Thread first = awaiting(submit(Opcode.READ, 0, false));
    Thread second = awaiting(submit(Opcode.WRITE, 1, false));
    drain();
    device.status = SimStatus.PANIC;
    first.join();
    second.join();
    assertThat(failures).hasSize(2).allMatch(text -> text.contains(" " + SimStatus.PANIC + " "));
    assertThat(lost).contains(1L);
  }

  @Test
  void inRealTimeAnExceptionEndsTheWaitOfAll() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    Thread waiting = awaiting(submit(Opcode.READ, 0, false));
    drain();
    device.thrown = new IllegalStateException("broken binding");
    waiting.join();
    assertThat(failures).containsExactly("broken binding");
    device.thrown = null;
  }

  @Test
  void inRealTimeAnExceptionAtTheSubmissionEndsTheWait() throws Exception {
    queue.setMode(true, 1);
    device.thrown = new IllegalStateException("broken binding");
    assertThat(queue.await(origin, submit(Opcode.READ, 0, false), FOREVER)).isTrue();
    assertThat(failures).containsExactly("broken binding");
    device.thrown = null;
  }

  /** The thread goes on, and serves those who wait afterwards. */
  @Test
  void countersThatFailCostNoService() throws Exception {
    publisher =
        target -> {
          throw new IllegalStateException("broken counters");
        };
    queue.setMode(true, 1);
    await().until(() -> published.get() > 0);
    assertThat(queue.await(origin, submit(Opcode.READ, 0, false), FOREVER)).isTrue();
  }

  @Test
  void inRealTimeAStatusIsThatOfTheSimulator() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    Thread waiting = awaiting(submit(Opcode.READ, 0, false));
    drain();
    device.status = SimStatus.RANGE;
    waiting.join();
    device.status = 0;
    assertThat(failures)
        .containsExactly(Opcode.READ + " 0 " + SimStatus.RANGE + " the fake's error");
  }

  @Test
  void anInterruptEndsAWaitAndStaysSet() throws SimException {
    queue.setMode(true, 1);
    device.stuck = true;
    long ticket = submit(Opcode.READ, 0, false);
    Thread.currentThread().interrupt();
    assertThat(queue.await(origin, ticket, FOREVER)).isFalse();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void inRealTimeWhatFindsNoRoomOnTheDeviceKeepsItsPlace() throws SimException {
    queue.setMode(true, 1);
    device.full = true;
    submit(Opcode.READ, 1, true);
    submit(Opcode.READ, 2, true);
    assertThat(device.commands()).as("calls pass it").isEmpty();
    device.full = false;
    await().until(() -> device.commands().size() == 2);
    assertThat(device.commands())
        .extracting(FakeDevice.Command::offset)
        .containsExactly((long) FakeDevice.PAGE, 2L * FakeDevice.PAGE);
  }

  @Test
  void inRealTimeCountersArePublishedWhileTheDeviceWorks() throws SimException {
    device.stuck = true;
    queue.setMode(true, 1);
    submit(Opcode.READ, 0, false);
    await().until(() -> published.get() > 3);
  }

  /** Whose command ends gives the next one: there is always something to post. */
  @Test
  void aBusyRingKeepsTheThreadFromNothing() throws Exception {
    queue.setMode(true, 1);
    Thread reader =
        new Thread(
            () -> {
              while (busy != null) {
                queue.await(origin, submit(Opcode.READ, 0, false), FOREVER);
              }
            });
    reader.setDaemon(true);
    busy = reader;
    reader.start();
    int before = published.get();
    await().until(() -> published.get() > before + 3);
    FutureTask<Void> change =
        new FutureTask<>(
            () -> {
              queue.setMode(false, 1);
              return null;
            });
    new Thread(change).start();
    try {
      change.get(10, TimeUnit.SECONDS);
    } finally {
      busy = null;
    }
  }

  @Test
  void anErrorInTheThreadEndsAllWaitsAndIsSaid() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    Thread waiting = awaiting(submit(Opcode.READ, 0, false));
    drain();
    DeviceThread.Origin fatal =
        new DeviceThread.Origin() {
          @Override
          public void failed(
              WrittenExtent written, int opcode, long slba, long status, String error) {}

          @Override
          public void broken(Throwable e) {
            throw new OutOfMemoryError("Direct buffer memory");
          }
        };
    queue.submit(fatal, null, Opcode.READ, 1, 1, 1, Directive.NONE, false);
    drain();
    device.thrown = new IllegalStateException("broken binding");
    waiting.join();
    queue.awaitClosed(FOREVER);
    assertThatThrownBy(() -> submit(Opcode.READ, 2, false)).hasMessageContaining(ENDED);
    assertThatThrownBy(this::drain).hasMessageContaining(ENDED);
    assertThat(device.closed).isTrue();
  }

  @Test
  void aCommandThatIsNeverGivenIsFound() {
    queue.ring.claim();
    time = () -> clock.addAndGet(LOOK_NS);
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < CAPACITY; i++) {
                submit(Opcode.READ, i, true);
              }
            })
        .hasMessageContaining("hangs");
  }

  @Test
  void aChangeOfModeEndsWaits() throws Exception {
    for (boolean realTime : new boolean[] {true, false, true}) {
      device.stuck = true;
      long ticket = submit(Opcode.READ, 0, false);
      Thread waiting = awaiting(ticket);
      drain();
      queue.setMode(realTime, 1);
      waiting.join();
      assertThat(queue.await(origin, ticket, FOREVER)).isTrue();
      device.stuck = false;
      assertThat(device.open()).isEmpty();
    }
    device.status = SimStatus.ARGUMENT;
    assertThatThrownBy(() -> queue.setMode(true, 1)).isInstanceOf(SimException.class);
  }

  /** One thread of the device, however many of HDFS wait for it. */
  @Test
  void manyWaitAndOneThreadServesThem() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    Set<Thread> callers = ConcurrentHashMap.newKeySet();
    device.before = () -> callers.add(Thread.currentThread());
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      waiting.add(awaiting(submit(Opcode.READ, i, false)));
    }
    drain();
    device.stuck = false;
    for (Thread thread : waiting) {
      thread.join();
    }
    assertThat(callers).hasSize(1).doesNotContain(Thread.currentThread());
    assertThat(callers.iterator().next().isDaemon()).isTrue();
  }

  @Test
  void exceptionsAreTheCallers() {
    assertThatThrownBy(
            () ->
                queue.call(
                    target -> {
                      throw new SimException(SimStatus.CLOSED, "closed");
                    }))
        .isInstanceOf(SimException.class);
    assertThatThrownBy(
            () ->
                queue.call(
                    target -> {
                      throw new UnsatisfiedLinkError("another library");
                    }))
        .isInstanceOf(UnsatisfiedLinkError.class);
    assertThatThrownBy(
            () ->
                queue.call(
                    target -> {
                      throw new IllegalArgumentException("thrown");
                    }))
        .isInstanceOf(IllegalArgumentException.class);
    drain();
  }

  @Test
  void aClosedQueueTakesNothing() throws Exception {
    queue.setMode(true, 1);
    device.stuck = true;
    Thread waiting = awaiting(submit(Opcode.READ, 0, false));
    drain();
    queue.close();
    waiting.join();
    queue.awaitClosed(FOREVER);
    assertThat(device.closed).isTrue();
    assertThat(submit(Opcode.READ, 0, true)).isEqualTo(SimStatus.CLOSED);
    assertThatThrownBy(this::drain).hasMessageContaining("closed");
  }
}
