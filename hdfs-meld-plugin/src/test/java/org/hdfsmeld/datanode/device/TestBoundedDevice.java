package org.hdfsmeld.datanode.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.hdfsmeld.sim.CommandBatch;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls that other threads make, and that end though the device never answers. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestBoundedDevice {
  private final BoundedCalls calls = new BoundedCalls(3);
  private final FakeDevice fake = new FakeDevice();
  private final List<AutoCloseable> threads = new ArrayList<>();
  private final CountDownLatch hang = new CountDownLatch(1);

  private BoundedDevice bounded(SimDevice device) {
    DeferredCommands deferred = new DeferredCommands("test", device, calls);
    threads.add(deferred);
    return new BoundedDevice(device, calls, deferred);
  }

  @AfterEach
  void letGo() throws Exception {
    hang.countDown();
    for (AutoCloseable thread : threads) {
      thread.close();
    }
  }

  private static SimDevice device(InvocationHandler answers) {
    return (SimDevice)
        Proxy.newProxyInstance(
            SimDevice.class.getClassLoader(), new Class<?>[] {SimDevice.class}, answers);
  }

  /** What the device does, but for how it is reached. */
  static Stream<Method> methods() {
    return Arrays.stream(SimDevice.class.getMethods())
        .filter(method -> !List.of("isNative", "lastError").contains(method.getName()));
  }

  @ParameterizedTest
  @MethodSource("methods")
  void eachCallIsMadeByAnotherThread(Method method) throws Exception {
    List<Method> called = new ArrayList<>();
    List<Object> given = new ArrayList<>();
    Thread[] by = new Thread[1];
    SimDevice device =
        device(
            (proxy, asked, arguments) -> {
              called.add(asked);
              given.addAll(arguments == null ? List.of() : List.of(arguments));
              by[0] = Thread.currentThread();
              return answer(asked.getReturnType());
            });
    Object[] arguments = arguments(method);
    Object answer = method.invoke(bounded(device), arguments);
    assertThat(called).containsExactly(method);
    assertThat(given).containsExactly(arguments);
    assertThat(answer).isEqualTo(answer(method.getReturnType()));
    assertThat(by[0]).isNotSameAs(Thread.currentThread());
    assertThat(by[0].isDaemon()).isTrue();
  }

  private static Object[] arguments(Method method) {
    List<Object> arguments = new ArrayList<>();
    for (Class<?> type : method.getParameterTypes()) {
      int number = arguments.size() + 1;
      if (type == int.class) {
        arguments.add(number);
      } else if (type == long.class) {
        arguments.add((long) number);
      } else if (type == double.class) {
        arguments.add((double) number);
      } else if (type == boolean.class) {
        arguments.add(true);
      } else if (type == long[].class) {
        arguments.add(new long[number]);
      } else if (type == ByteBuffer.class) {
        arguments.add(ByteBuffer.allocateDirect(number));
      } else {
        assertThat(type).isEqualTo(CommandBatch.class);
        arguments.add(new CommandBatch(number));
      }
    }
    return arguments.toArray();
  }

  private static Object answer(Class<?> type) {
    if (type == int.class) {
      return 42;
    }
    if (type == long.class) {
      return 42L;
    }
    if (type == String.class) {
      return "answer";
    }
    if (type == long[].class) {
      return new long[] {42};
    }
    if (type == List.class) {
      return List.of();
    }
    return type == NamespaceInfo.class ? new NamespaceInfo(1, 2, 3, 4, 5, 6) : null;
  }

  @ParameterizedTest
  @MethodSource("methods")
  void eachCallComesBackThoughTheDeviceDoesNot(Method method) {
    SimDevice device =
        device(
            (proxy, asked, arguments) -> {
              hang.await();
              return answer(asked.getReturnType());
            });
    BoundedDevice bounded = bounded(device);
    assertThatThrownBy(() -> method.invoke(bounded, arguments(method)))
        .isInstanceOf(InvocationTargetException.class)
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("hangs");
    assertThat(calls.isHanging()).isTrue();
    long begin = System.nanoTime();
    assertThatThrownBy(() -> bounded.stats(new long[0])).hasMessageContaining("hangs");
    bounded.close();
    assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.MILLISECONDS.toNanos(100));
  }

  @Test
  void whoWaitsElsewhereGoesOnToo() throws Exception {
    fake.before = FakeDevice.hang(hang);
    BoundedDevice bounded = bounded(fake);
    Thread first = new Thread(() -> bounded.preload(1, 0, 8, Directive.NONE));
    first.setUncaughtExceptionHandler((thread, e) -> {});
    first.start();
    Thread.sleep(BoundedCalls.LOOK_MS);
    assertThatThrownBy(() -> bounded.preload(1, 0, 8, Directive.NONE))
        .hasMessageContaining("hangs");
    first.join();
  }

  @Test
  void openingMayTakeLongerThanACallAndEndsToo() throws Exception {
    BoundedCalls single = new BoundedCalls(1);
    SimDeviceOpener slow =
        single.around(
            () -> {
              sleep(3 * BoundedCalls.LOOK_MS);
              return fake;
            });
    assertThat(slow.open()).isSameAs(fake);
    SimDeviceOpener never =
        single.around(
            () -> {
              FakeDevice.hang(hang).run();
              return fake;
            });
    assertThatThrownBy(never::open).hasMessageContaining("hangs");
    assertThatThrownBy(() -> slow.restore(ByteBuffer.allocateDirect(1)))
        .isInstanceOf(SimException.class);
  }

  private static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aFailuresTextIsTheCallers() {
    BoundedDevice bounded = bounded(fake);
    assertThat(bounded.lastError()).isEmpty();
    fake.status = SimStatus.RANGE;
    assertThat(bounded.submit(Opcode.READ, 1, 0, 1, Directive.NONE, true))
        .isEqualTo(SimStatus.RANGE);
    assertThat(bounded.lastError()).isEqualTo("the fake's error");
  }

  @Test
  void exceptionsAreTheCallers() {
    fake.thrown = new IllegalArgumentException("thrown");
    assertThatThrownBy(() -> bounded(fake).submit(Opcode.READ, 1, 0, 1, Directive.NONE, true))
        .isSameAs(fake.thrown);
    assertThatThrownBy(
            () ->
                calls.make(
                    () -> {
                      throw new SimException(SimStatus.CLOSED, "closed");
                    }))
        .isInstanceOf(SimException.class);
    assertThatThrownBy(
            () ->
                calls.make(
                    () -> {
                      throw new UnsatisfiedLinkError("another library");
                    }))
        .isInstanceOf(UnsatisfiedLinkError.class);
    assertThat(calls.isHanging()).isFalse();
  }

  @Test
  void anInterruptEndsNoCallAndStaysSet() {
    BoundedDevice bounded = bounded(fake);
    Thread.currentThread().interrupt();
    long ticket = bounded.submit(Opcode.READ, 1, 0, 1, Directive.NONE, false);
    assertThat(bounded.await(ticket, 0)).isEqualTo(1);
    assertThat(Thread.interrupted()).isTrue();
  }
}
