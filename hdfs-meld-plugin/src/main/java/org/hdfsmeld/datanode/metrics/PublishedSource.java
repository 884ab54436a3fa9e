package org.hdfsmeld.datanode.metrics;

import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A source of Hadoop's metrics system, which shows it as a bean of its name too, until closed. */
public record PublishedSource(String name, MetricsSource source) implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedSource.class);

  /** Registers a source. A failure costs visibility, not service: it is logged. */
  public static synchronized PublishedSource register(
      String name, String description, MetricsSource source) {
    MetricsSystem metrics = DefaultMetricsSystem.instance();
    try {
      // Left by a DataNode that did not shut down; its name would be refused.
      metrics.unregisterSource(name);
      metrics.register(name, description, source);
    } catch (MetricsException e) {
      LOG.warn("{} is not visible as metrics", name, e);
    }
    return new PublishedSource(name, source);
  }

  /** Takes the source away, but not one that has taken its name over. */
  @Override
  public void close() {
    synchronized (PublishedSource.class) {
      MetricsSystem metrics = DefaultMetricsSystem.instance();
      if (metrics.getSource(name) == source) {
        metrics.unregisterSource(name);
      }
    }
  }
}
