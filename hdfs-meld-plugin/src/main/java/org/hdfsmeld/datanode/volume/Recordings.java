package org.hdfsmeld.datanode.volume;

import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.timeline.DatanodeTimeline;
import org.hdfsmeld.trace.BlockTrace;

/** What can be recorded of a DataNode; nothing is, until it is started. */
public final class Recordings {
  private Recordings() {}

  /** The block trace of a DataNode. */
  public static BlockTrace trace(TraceConfiguration config, String dataNodeUuid) {
    return new BlockTrace(
        config.folder(dataNodeUuid),
        config.maxFiles(),
        config.fileBytes(),
        config.bufferRecords(),
        config.inodes());
  }

  /** The timeline of a DataNode, whose files lie beside those of its block traces. */
  static DatanodeTimeline timeline(TraceConfiguration config, String dataNodeUuid) {
    return new DatanodeTimeline(config.folder(dataNodeUuid), config.maxFiles());
  }
}
