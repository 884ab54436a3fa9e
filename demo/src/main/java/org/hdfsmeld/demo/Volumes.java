package org.hdfsmeld.demo;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** All simulated volumes of this JVM, controlled and read over JMX as an operator would. */
final class Volumes {
  private static final String PATTERN = "Hadoop:service=DataNode,name=MeldVolume-*";

  private final List<VolumeBean> beans;

  private Volumes(List<VolumeBean> beans) {
    this.beans = beans;
  }

  /** The volumes in the order of their paths; fails unless exactly so many work. */
  static Volumes find(int expected) throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    List<VolumeBean> beans = new ArrayList<>();
    for (ObjectName name : server.queryNames(new ObjectName(PATTERN), null)) {
      beans.add(JMX.newMXBeanProxy(server, name, VolumeBean.class));
    }
    beans.sort(Comparator.comparing(VolumeBean::getVolume));
    long healthy = beans.stream().filter(VolumeBean::isHealthy).count();
    if (healthy != expected) {
      throw new IllegalStateException(
          "the simulator works on " + healthy + " of " + expected + " volumes");
    }
    return new Volumes(beans);
  }

  int count() {
    return beans.size();
  }

  void setMode(String mode) {
    each(bean -> bean.setMode(mode));
  }

  void setTimeDilation(double dilation) {
    each(bean -> bean.setTimeDilation(dilation));
  }

  void setHint(boolean sequential) {
    each(bean -> bean.setHintFullBlockSequential(sequential));
  }

  List<Counters> counters() {
    return beans.stream().map(bean -> new Counters(bean.getCounters())).toList();
  }

  /** What each volume counted since an earlier reading. */
  List<Counters> countersSince(List<Counters> before) {
    List<Counters> now = counters();
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
