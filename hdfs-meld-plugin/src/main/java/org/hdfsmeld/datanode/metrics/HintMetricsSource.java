package org.hdfsmeld.datanode.metrics;

import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;

/**
 * A DataNode's questions to the NameNodes as a metrics2 record {@code MeldHints} in context {@code
 * dfs}, until closed.
 */
public final class HintMetricsSource implements MetricsSource, AutoCloseable {
  private final String name;
  private final Supplier<Map<String, Long>> counters;
  private PublishedSource published;

  public HintMetricsSource(String dataNodeUuid, Supplier<Map<String, Long>> counters) {
    this.name = "MeldHints-" + dataNodeUuid;
    this.counters = counters;
  }

  /** Registers. A failure costs visibility, not service: it is logged. */
  public void open() {
    published = PublishedSource.register(name, "Hints how blocks will be read", this);
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    SimMetricsSource.addCounters(
        collector.addRecord("MeldHints").setContext("dfs"), counters.get());
  }

  @Override
  public void close() {
    published.close();
  }
}
