package org.hdfsmeld.record;

import javax.management.MXBean;

/** Something of a DataNode that is recorded on demand, also over JMX. */
@MXBean
public interface Recording {
  /** The folder of the files on the DataNode. */
  String getFolder();

  /** Whether it is being recorded. */
  boolean isRecording();

  /** Records in the files of the present recording, or of the last one. */
  long getRecords();

  /** Records of it that are lost. */
  long getDroppedRecords();

  /** Why the last one ended by itself; empty when it did not. */
  default String getLastError() {
    return "";
  }

  /**
   * Begins.
   *
   * @throws IllegalStateException when it is being recorded, or files cannot be made
   */
  void start();

  /** Ends; everything is in its files then. Does nothing when nothing is recorded. */
  void stop();
}
