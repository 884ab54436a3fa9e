package org.hdfsmeld.datanode.hadoop;

import java.io.IOException;

/**
 * Calls on a file's channel that stock HDFS does not make: an interrupted thread that calls a
 * channel closes the file.
 */
final class Uninterruptibles {
  interface ChannelCall {
    long call() throws IOException;
  }

  private Uninterruptibles() {}

  /** Its result; the thread's interrupt is held back meanwhile. */
  static long call(ChannelCall call) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      return call.call();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
