package org.hdfsmeld.datanode.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands that are left to a thread of the device. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestDeferredCommands {
  private static final int CAPACITY = 4096;
  private static final int TICKETS = 1 << 16;

  private final FakeDevice device = new FakeDevice();
  private final BoundedCalls calls = new BoundedCalls(3);
  private final DeferredCommands commands = new DeferredCommands("test", device, calls);
  private final CountDownLatch hang = new CountDownLatch(1);
  private final List<String> failures = new ArrayList<>();

  private final DeferredCommands.Issuer issuer =
      new DeferredCommands.Issuer() {
        @Override
        public void failed(int opcode, long slba, long status, String error) {
          failures.add(opcode + " " + slba + " " + status + " " + error);
        }

        @Override
        public void broken(Throwable e) {
          failures.add(e.getMessage());
        }
      };

  @AfterEach
  void close() {
    hang.countDown();
    commands.close();
  }

  private long submit(int opcode, long slba, boolean detached) {
    return commands.submit(issuer, opcode, 1, slba, 1, Directive.NONE, detached);
  }

  @Test
  void reachTheDeviceInTheirOrder() {
    List<FakeDevice.Command> expected = new ArrayList<>();
    for (int i = 0; i < 3 * CAPACITY; i++) {
      int opcode = i % 3 == 0 ? Opcode.WRITE : Opcode.READ;
      boolean detached = i % 2 == 0;
      long ticket = submit(opcode, i, detached);
      assertThat(DeferredCommands.owns(ticket)).isEqualTo(!detached);
      expected.add(
          new FakeDevice.Command(
              opcode, (long) i * FakeDevice.PAGE, FakeDevice.PAGE, Directive.NONE, detached));
      if (!detached) {
        commands.settle(issuer, ticket);
      }
      if (i % 1000 == 0) {
        commands.drain();
      }
    }
    commands.drain();
    assertThat(device.commands).isEqualTo(expected);
    assertThat(device.open).isEmpty();
    assertThat(failures).isEmpty();
  }

  @Test
  void areGatheredAndStillComeSoonAndAfterASleepToo() throws Exception {
    for (int i = 1; i <= 3; i++) {
      int count = i;
      submit(Opcode.READ, 0, true);
      await().atMost(1, TimeUnit.SECONDS).until(() -> size() == count);
      // Longer than the thread looks at an empty ring.
      Thread.sleep(1_200);
    }
  }

  private int size() {
    synchronized (device) {
      return device.commands.size();
    }
  }

  @Test
  void ofManyThreadsKeepTheOrderOfEach() throws Exception {
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
    commands.drain();
    long[] next = new long[4];
    for (FakeDevice.Command command : device.commands) {
      long slba = command.offset() / FakeDevice.PAGE;
      int thread = (int) (slba / 1_000_000);
      assertThat(slba % 1_000_000).isEqualTo(next[thread]++);
    }
    assertThat(next).containsOnly(20_000);
  }

  @Test
  void thatFailAreToldToWhoGaveThem() {
    device.status = SimStatus.RANGE;
    long ticket = submit(Opcode.WRITE, 7, false);
    commands.settle(issuer, ticket);
    commands.drain();
    device.status = 0;
    device.thrown = new IllegalStateException("broken binding");
    submit(Opcode.READ, 8, true);
    commands.drain();
    device.thrown = null;
    long failing = submit(Opcode.READ, 9, false);
    commands.drain();
    device.status = SimStatus.CAPACITY;
    commands.settle(issuer, failing);
    commands.drain();
    assertThat(failures)
        .containsExactly(
            Opcode.WRITE + " 7 " + SimStatus.RANGE + " the fake's error",
            "broken binding",
            "-1 0 " + SimStatus.CAPACITY + " the fake's error");
  }

  @Test
  void forgottenTicketsAreForgotten() {
    long ticket = submit(Opcode.READ, 0, false);
    commands.drain();
    assertThat(device.open).hasSize(1);
    commands.forget(issuer, ticket);
    commands.forget(issuer, ticket);
    commands.settle(issuer, ticket);
    commands.drain();
    assertThat(device.open).isEmpty();
  }

  @Test
  void ticketsThatNobodyComesForAreBounded() {
    long first = submit(Opcode.READ, 0, false);
    for (int i = 0; i < TICKETS + 10; i++) {
      submit(Opcode.READ, 0, false);
      commands.drain();
    }
    assertThat(device.open).hasSize(TICKETS);
    commands.settle(issuer, first);
    commands.drain();
    assertThat(device.open).hasSize(TICKETS);
    assertThat(failures).isEmpty();
  }

  @Test
  void findNoRoomBehindADeviceThatIsSlow() {
    device.before = FakeDevice.hang(hang);
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(submit(Opcode.READ, i, true)).isZero();
    }
    assertThat(submit(Opcode.READ, CAPACITY, true)).isEqualTo(SimStatus.TIMEOUT);
    hang.countDown();
    commands.drain();
    assertThat(submit(Opcode.READ, CAPACITY, true)).isZero();
    commands.drain();
    assertThat(device.commands).hasSize(CAPACITY + 1);
  }

  @Test
  void whoWaitsForAllOfThemDoesNotWaitForAHang() {
    device.before = FakeDevice.hang(hang);
    submit(Opcode.READ, 0, true);
    Thread.currentThread().interrupt();
    assertThatThrownBy(commands::drain).hasMessageContaining("hangs");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(calls.isHanging()).isTrue();
  }

  /** Nobody need wait for the device for a hang to be found. */
  @Test
  void whoPutsThemInFindsAHang() {
    device.before = FakeDevice.hang(hang);
    long begin = System.nanoTime();
    assertThatThrownBy(
            () -> {
              while (true) {
                submit(Opcode.READ, 0, true);
                Thread.sleep(1);
              }
            })
        .hasMessageContaining("hangs");
    // The first look may come at once.
    long looks = (calls.looks() - 1) * BoundedCalls.LOOK_MS;
    assertThat(System.nanoTime() - begin).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(looks));
  }

  @Test
  void ofAClosedDeviceAreNotTaken() {
    commands.close();
    assertThat(submit(Opcode.READ, 0, true)).isEqualTo(SimStatus.CLOSED);
    commands.drain();
  }
}
