package org.hdfsmeld.datanode.metrics;

import java.util.List;
import org.hdfsmeld.sim.Opcode;

/** A percentile of an opcode's latencies in simulated picoseconds; the quantile is 0 to 1. */
public record LatencyMetric(String name, int opcode, double quantile) {
  /** What is published. */
  public static final List<LatencyMetric> ALL =
      List.of(
          new LatencyMetric("read_latency_p50_ps", Opcode.READ, 0.5),
          new LatencyMetric("read_latency_p99_ps", Opcode.READ, 0.99),
          new LatencyMetric("read_latency_p999_ps", Opcode.READ, 0.999),
          new LatencyMetric("write_latency_p50_ps", Opcode.WRITE, 0.5),
          new LatencyMetric("write_latency_p99_ps", Opcode.WRITE, 0.99),
          new LatencyMetric("write_latency_p999_ps", Opcode.WRITE, 0.999));
}
