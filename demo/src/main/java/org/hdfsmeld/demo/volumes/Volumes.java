package org.hdfsmeld.demo.volumes;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** All simulated volumes of this JVM, controlled and read over JMX as an operator would. */
public final class Volumes {
  private static final int SETTLES_MS = 1000;
  private static final String PATTERN = "Hadoop:service=DataNode,name=MeldVolume-*";

  private final List<VolumeBean> beans;

  private Volumes(List<VolumeBean> beans) {
    this.beans = beans;
  }

  /** The volumes in the order of their paths; fails unless there are so many and all work. */
  public static Volumes find(int expected) throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    List<VolumeBean> beans = new ArrayList<>();
    for (ObjectName name : server.queryNames(new ObjectName(PATTERN), null)) {
      beans.add(JMX.newMXBeanProxy(server, name, VolumeBean.class));
    }
    beans.sort(Comparator.comparing(VolumeBean::getVolume));
    if (beans.size() != expected) {
      throw new IllegalStateException(
          "the plugin shows " + beans.size() + " volumes, not " + expected);
    }
    Volumes volumes = new Volumes(beans);
    volumes.check();
    return volumes;
  }

  /** Fails if any simulated device has failed, or let a reader go before its time. */
  public void check() {
    for (VolumeBean bean : beans) {
      Counters counters = new Counters(bean.getCounters());
      if (!bean.isHealthy() || counters.get("errors") > 0) {
        throw new IllegalStateException(
            "the simulator failed on volume " + bean.getVolume() + ": " + bean.getLastError());
      }
      if (counters.get("timeouts") > 0) {
        throw new IllegalStateException(
            "readers gave up waiting for volume "
                + bean.getVolume()
                + "; choose a smaller --dilation");
      }
    }
  }

  /** Sets the mode of all: {@code off}, {@code account} or {@code real-time}. */
  public void setMode(String mode) {
    each(bean -> bean.setMode(mode));
  }

  /** Sets how many wall seconds a simulated second takes. */
  public void setTimeDilation(double dilation) {
    each(bean -> bean.setTimeDilation(dilation));
  }

  /** Sets whether full blocks are from now on written with the sequential directive. */
  public void setHint(boolean sequential) {
    each(bean -> bean.setHintFullBlockSequential(sequential));
  }

  /**
   * The counters of each volume, in the order of their paths; what was done shows a moment later.
   */
  public List<Counters> counters() {
    return beans.stream().map(bean -> new Counters(bean.getCounters())).toList();
  }

  /** As {@link #counters}, when all that was done shows. */
  public List<Counters> settledCounters() {
    List<Counters> now = counters();
    for (int i = 0; i < SETTLES_MS && Counters.sum(now, "counters_pending") > 0; i++) {
      LockSupport.parkNanos(1_000_000);
      now = counters();
    }
    return now;
  }

  /** What each volume counted since an earlier reading. */
  public List<Counters> countersSince(List<Counters> before) {
    List<Counters> now = settledCounters();
    List<Counters> grown = new ArrayList<>();
    for (int i = 0; i < now.size(); i++) {
      grown.add(now.get(i).since(before.get(i)));
    }
    return grown;
  }

  private void each(Consumer<VolumeBean> action) {
    beans.forEach(action);
  }
}
