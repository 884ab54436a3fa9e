package org.hdfsmeld.datanode.sink;

import org.hdfsmeld.datanode.config.SinkChoice;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounters;

/** The sinks that a configuration asks for. */
public final class DirectiveSinks {
  private DirectiveSinks() {}

  /**
   * The sink of a volume.
   *
   * @param simulator the one of its simulated device
   */
  public static DirectiveSink of(
      SinkChoice choice,
      DirectiveSink simulator,
      String volume,
      VolumeCounters counters,
      SimFailures failures) {
    return switch (choice) {
      case SIMULATOR -> simulator;
      case WRITE_LIFETIME -> new WriteLifetimeSink(volume, counters, failures);
      case BOTH -> DirectiveSink.both(simulator, new WriteLifetimeSink(volume, counters, failures));
      case NONE -> DirectiveSink.NONE;
    };
  }
}
