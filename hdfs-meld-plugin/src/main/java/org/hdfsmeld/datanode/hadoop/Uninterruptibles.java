package org.hdfsmeld.datanode.hadoop;

import java.io.IOException;

/** Calls on a file's channel that are not stock HDFS's: an interrupt would close the file. */
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
