package org.hdfsmeld.spark.devices;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkContext;
import org.hdfsmeld.spark.measure.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the devices of DataNodes before a job and after it. A DataNode's silence fails nothing. */
public final class SimulatorWatch {
  private static final Logger LOG = LoggerFactory.getLogger(SimulatorWatch.class);

  private final SparkContext context;
  private final TaskClock clock = new TaskClock();
  private final List<DataNodeBeans> before;

  private SimulatorWatch(SparkContext context, List<DataNodeBeans> before) {
    this.context = context;
    this.before = before;
  }

  /**
   * @param addresses of the DataNodes' web servers
   */
  public static SimulatorWatch begin(SparkContext context, List<String> addresses)
      throws InterruptedException {
    SimulatorWatch watch = new SimulatorWatch(context, read(addresses));
    context.addSparkListener(watch.clock);
    return watch;
  }

  /**
   * @param threads that read at a time in each task
   */
  public SimulatorUse end(int threads) throws Exception {
    List<DataNodeBeans> after = read(before.stream().map(DataNodeBeans::address).toList());
    Measured.awaitListeners(context);
    context.removeSparkListener(clock);
    double wallSeconds = clock.wallSeconds();
    List<DataNodeUse> nodes = new ArrayList<>();
    for (int i = 0; i < before.size(); i++) {
      DataNodeUse node = DataNodeUse.between(before.get(i), after.get(i), wallSeconds);
      if (node.error() != null) {
        LOG.warn("devices of DataNode {}: {}", node.address(), node.error());
      }
      nodes.add(node);
    }
    return SimulatorUse.of(
        nodes, wallSeconds, clock.readerSeconds() * threads, clock.writerSeconds());
  }

  private static List<DataNodeBeans> read(List<String> addresses) throws InterruptedException {
    List<DataNodeBeans> beans = new ArrayList<>();
    for (String address : addresses) {
      beans.add(DataNodeBeans.read(address));
    }
    return beans;
  }
}
