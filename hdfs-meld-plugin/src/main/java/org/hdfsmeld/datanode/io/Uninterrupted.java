package org.hdfsmeld.datanode.io;

import java.io.IOException;

/**
 * Asks a file's channel what it could be asked without one in stock HDFS: an interrupted thread
 * that calls a channel closes the file, and here nobody but the simulation wants to know.
 */
final class Uninterrupted {
  /** A call on a channel. */
  interface Question {
    long ask() throws IOException;
  }

  private Uninterrupted() {}

  /** The answer; the thread's interrupt is held back meanwhile. */
  static long ask(Question question) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      return question.ask();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
