package org.hdfsmeld.datanode.config;

import java.io.File;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.timeline.DatanodeTimeline;
import org.hdfsmeld.trace.BlockTrace;

/**
 * Where and how much of the block trace is kept.
 *
 * @param folder under which each DataNode has a folder of its own for trace files
 * @param maxFiles most files of a DataNode; older ones are deleted
 * @param fileBytes compressed bytes after which the next file is begun
 * @param bufferRecords records that wait to be written at most, a power of two
 * @param inodes whether directories are named by their inode numbers, not by hashes
 */
public record TraceConfiguration(
    String folder, int maxFiles, long fileBytes, int bufferRecords, boolean inodes) {
  private static final int MAX_FILES = 10_000;
  private static final long MIN_FILE_BYTES = 1 << 10;
  private static final int MIN_BUFFER_RECORDS = 1 << 10;
  private static final int MAX_BUFFER_RECORDS = 1 << 24;

  static TraceConfiguration read(Configuration conf) throws MeldConfigurationException {
    int records =
        Values.count(
            conf,
            MeldKeys.TRACE_BUFFER_RECORDS,
            MeldKeys.TRACE_BUFFER_RECORDS_DEFAULT,
            MIN_BUFFER_RECORDS,
            MAX_BUFFER_RECORDS);
    return new TraceConfiguration(
        conf.getTrimmed(MeldKeys.TRACE_DIR, MeldKeys.TRACE_DIR_DEFAULT),
        Values.count(
            conf, MeldKeys.TRACE_MAX_FILES, MeldKeys.TRACE_MAX_FILES_DEFAULT, 1, MAX_FILES),
        Values.bytes(
            conf,
            MeldKeys.TRACE_FILE_BYTES,
            MeldKeys.TRACE_FILE_BYTES_DEFAULT,
            MIN_FILE_BYTES,
            Long.MAX_VALUE),
        // Up to the next power of two.
        Integer.highestOneBit(records - 1) << 1,
        inodes(conf));
  }

  private static boolean inodes(Configuration conf) throws MeldConfigurationException {
    String value = conf.getTrimmed(MeldKeys.TRACE_DIRECTORIES, MeldKeys.TRACE_DIRECTORIES_DEFAULT);
    return switch (value) {
      case "hash" -> false;
      case "inode" -> true;
      default ->
          throw new MeldConfigurationException(
              MeldKeys.TRACE_DIRECTORIES, value, "use hash or inode");
    };
  }

  /** The block trace of a DataNode; nothing is recorded until it is started. */
  public BlockTrace newTrace(String dataNodeUuid) {
    return new BlockTrace(folder(dataNodeUuid), maxFiles, fileBytes, bufferRecords, inodes);
  }

  /** The timeline of a DataNode, whose files lie beside those of its block traces. */
  public DatanodeTimeline newTimeline(String dataNodeUuid) {
    return new DatanodeTimeline(folder(dataNodeUuid), maxFiles);
  }

  private Path folder(String dataNodeUuid) {
    return new File(folder, dataNodeUuid).getAbsoluteFile().toPath();
  }
}
