package org.hdfsmeld.datanode.device;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.timeline.TimelineDevice;

/** The timeline of a device: the simulator keeps it, and here is how its time goes by. */
public final class DeviceTimeline implements TimelineDevice {
  private static final String NOT_OPEN = "the device is out of service, or nothing has used it yet";

  private static final long WRITE_SECONDS = 20;

  private final SharedDevice device;
  private final List<Clock> clocks = new ArrayList<>();
  private boolean recording;
  private String problem = NOT_OPEN;

  DeviceTimeline(SharedDevice device) {
    this.device = device;
  }

  @Override
  public String name() {
    return device.getDevice();
  }

  @Override
  public List<Volume> timelineVolumes() {
    return device.volumes().stream()
        .filter(volume -> volume.namespace() != null)
        .map(volume -> new Volume(volume.number(), volume.namespace().nsid()))
        .toList();
  }

  @Override
  public synchronized void startTimeline(long bytes) {
    clocks.clear();
    problem = "";
    recording = true;
    call(target -> target.checked(target.startTimeline(bytes)));
    look();
  }

  synchronized void modeChanged() {
    if (recording) {
      look();
    }
  }

  @Override
  public synchronized Recorded stopTimeline(Path file) {
    recording = false;
    SimDevice target = call(open -> open);
    boolean written = target != null && problem.isEmpty() && write(target, file);
    return new Recorded(List.copyOf(clocks), written ? file : null, problem);
  }

  /** On the thread for files: the device's own has commands to serve. */
  private boolean write(SimDevice target, Path file) {
    try {
      device
          .files
          .submit(() -> target.checked(target.stopTimeline(file.toString())))
          .get(WRITE_SECONDS, TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      problem = String.valueOf(e.getCause().getMessage());
    } catch (TimeoutException | RejectedExecutionException e) {
      problem = "the file is not written: " + e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      problem = "interrupted";
    }
    return false;
  }

  private void look() {
    int now = device.counters.names().indexOf("now_ps");
    double dilation = device.mode() == MeldMode.REAL_TIME ? device.getTimeDilation() : 0;
    call(
        target -> {
          long[] values = new long[device.counters.names().size()];
          int status = target.stats(values);
          clocks.add(new Clock(values[now], System.nanoTime(), dilation));
          return target.checked(status);
        });
  }

  /** Null when the device cannot; why is the problem then. */
  private <T> T call(DeviceCalls.Call<T, SimException> call) {
    DeviceThread queue = device.usable();
    if (queue == null) {
      problem = NOT_OPEN;
      return null;
    }
    try {
      return queue.call(DeviceCalls.PATIENCE, call);
    } catch (SimException e) {
      problem = SimStatus.name(e.status()) + ": " + e.getMessage();
    } catch (RuntimeException | Error e) {
      problem = e.toString();
    }
    return null;
  }
}
