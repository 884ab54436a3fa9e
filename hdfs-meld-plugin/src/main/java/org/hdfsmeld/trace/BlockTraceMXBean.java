package org.hdfsmeld.trace;

import org.hdfsmeld.record.Recording;

/**
 * The block trace of one DataNode over JMX: {@code Hadoop:service=DataNode,name=MeldTrace-<DataNode
 * uuid>}.
 */
public interface BlockTraceMXBean extends Recording {
  /** The folder of the trace files on the DataNode. */
  String getFolder();
}
