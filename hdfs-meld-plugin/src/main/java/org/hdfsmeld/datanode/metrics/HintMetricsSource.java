package org.hdfsmeld.datanode.metrics;

import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A DataNode's questions to the NameNodes as a metrics2 record {@code MeldHints} in context {@code
 * dfs}, until closed. Hadoop shows it as a bean of the source's name too.
 */
public final class HintMetricsSource implements MetricsSource, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HintMetricsSource.class);

  private final String name;
  private final Supplier<Map<String, Long>> counters;

  public HintMetricsSource(String dataNodeUuid, Supplier<Map<String, Long>> counters) {
    this.name = "MeldHints-" + dataNodeUuid;
    this.counters = counters;
  }

  /** Registers. A failure costs visibility, not service: it is logged. */
  public void open() {
    try {
      // Left by a DataNode that did not shut down; its name would be refused.
      DefaultMetricsSystem.instance().unregisterSource(name);
      DefaultMetricsSystem.instance().register(name, "Hints how blocks will be read", this);
    } catch (MetricsException e) {
      LOG.warn("The hints are not visible as metrics", e);
    }
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    SimMetricsSource.addCounters(
        collector.addRecord("MeldHints").setContext("dfs"), counters.get());
  }

  @Override
  public void close() {
    DefaultMetricsSystem.instance().unregisterSource(name);
  }
}
