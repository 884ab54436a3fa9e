package org.hdfsmeld.datanode.io;

import java.util.function.LongConsumer;
import org.hdfsmeld.trace.ClientKind;

/**
 * Who has opened a stream, and for whom; without a name where it is no client. {@code waits} hears
 * of waits for the device, in milliseconds; null where nobody keeps them.
 */
public record StreamUser(ClientKind kind, String client, LongConsumer waits) {
  public static final StreamUser DATANODE = new StreamUser(ClientKind.DATANODE, "", null);
  private static final long MILLISECOND_NS = 1_000_000;

  /** A time for {@link #waited}; 0 where nobody keeps it. */
  long now() {
    return waits == null ? 0 : System.nanoTime();
  }

  /** A wait that began at {@code sinceNs} has ended. As HDFS's own, it counts from 1 ms. */
  void waited(long sinceNs) {
    if (waits != null) {
      long ms = (System.nanoTime() - sinceNs) / MILLISECOND_NS;
      if (ms > 0) {
        waits.accept(ms);
      }
    }
  }
}
