package org.hdfsmeld.trace;

import java.util.List;
import org.hdfsmeld.record.Recording;

/**
 * The block trace of one DataNode over JMX: {@code Hadoop:service=DataNode,name=MeldTrace-<DataNode
 * uuid>}.
 */
public interface BlockTraceMXBean extends Recording {
  /** The folder of the trace files on the DataNode. */
  String getFolder();

  /** Names of the trace files, the oldest first; the last one is incomplete while recording. */
  List<String> getFiles();
}
