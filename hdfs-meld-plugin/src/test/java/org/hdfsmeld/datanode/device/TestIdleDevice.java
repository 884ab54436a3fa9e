package org.hdfsmeld.datanode.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.Opcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A spin is bounded: devices that have nothing to do take no processor. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestIdleDevice {
  private static final int DEVICES = 8;
  private static final long SPIN_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final List<DeviceThread> queues = new ArrayList<>();

  private final DeviceThread.Origin origin =
      new DeviceThread.Origin() {
        @Override
        public void failed(WrittenExtent extent, int opcode, long slba, long status, String error) {
          throw new IllegalStateException(error);
        }

        @Override
        public void broken(Throwable e) {
          throw new IllegalStateException(e);
        }
      };

  @AfterEach
  void close() {
    queues.forEach(DeviceThread::close);
  }

  @Test
  void takesAtMostAHundredthOfAProcessor() throws Exception {
    for (int i = 0; i < DEVICES; i++) {
      DeviceThread queue =
          new DeviceThread(
              "idle-" + i,
              SPIN_NS,
              device -> {},
              DeviceLoad.PERIOD_NS,
              new Watchdog(DeviceThread.LOOKS, System::nanoTime));
      queues.add(queue);
      queue.open(() -> NativeSimDevice.open("", "melded-tlc-8x8"));
      int nsid = queue.call(device -> device.createNamespace(1 << 30)).nsid();
      queue.setMode(true, 1);
      long ticket = queue.submit(origin, null, Opcode.READ, nsid, 0, 8, Directive.NONE, false);
      assertThat(queue.await(origin, ticket, Long.MAX_VALUE)).isTrue();
    }
    List<Thread> threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("meld-device-idle-"))
            .toList();
    assertThat(threads).hasSize(DEVICES);
    // Without a time to wake at: nothing will be done until something is put in.
    await().until(() -> threads.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
    long before = processorNs(threads);
    long begin = System.nanoTime();
    TimeUnit.SECONDS.sleep(1);
    long took = processorNs(threads) - before;
    assertThat(took).isLessThan((System.nanoTime() - begin) / 100);
  }

  private static long processorNs(List<Thread> threads) {
    ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    return threads.stream().mapToLong(thread -> bean.getThreadCpuTime(thread.getId())).sum();
  }
}
