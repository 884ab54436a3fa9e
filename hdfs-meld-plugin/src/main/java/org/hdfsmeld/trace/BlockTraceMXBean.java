package org.hdfsmeld.trace;

import java.util.List;

/**
 * The block trace of one DataNode over JMX: {@code Hadoop:service=DataNode,name=MeldTrace-<DataNode
 * uuid>}.
 */
public interface BlockTraceMXBean {
  /** Whether a trace is being recorded. */
  boolean isRecording();

  /** Records in the files of the present trace, or of the last one. */
  long getRecords();

  /**
   * Records of that trace that were not written down, because the buffer was full or files failed.
   */
  long getDroppedRecords();

  /** Why the last trace ended by itself; empty when it did not. */
  String getLastError();

  /** The folder of the trace files on the DataNode. */
  String getFolder();

  /** Names of the trace files, the oldest first; the last one is incomplete while recording. */
  List<String> getFiles();

  /**
   * Begins a trace.
   *
   * @throws IllegalStateException when one is being recorded, or files cannot be made
   */
  void start();

  /** Ends the trace; returns when everything is in its files. Does nothing when there is none. */
  void stop();
}
