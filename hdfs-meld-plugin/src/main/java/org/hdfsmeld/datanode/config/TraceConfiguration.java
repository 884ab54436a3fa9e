package org.hdfsmeld.datanode.config;

import java.io.File;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;

/** Where and how much of the block trace is kept: {@code trace.*}. Records are a power of two. */
public record TraceConfiguration(
    String folder, int maxFiles, long fileBytes, int bufferRecords, boolean inodes) {
  private static final int MAX_FILES = 10_000;
  private static final long MIN_FILE_BYTES = 1 << 10;
  private static final int MIN_BUFFER_RECORDS = 1 << 10;
  private static final int MAX_BUFFER_RECORDS = 1 << 24;

  private enum Directories {
    HASH,
    INODE
  }

  static TraceConfiguration read(Configuration conf) throws MeldConfigurationException {
    String key = MeldKeys.TRACE_BUFFER_RECORDS;
    int records = (int) Values.number(conf, key, MIN_BUFFER_RECORDS, MAX_BUFFER_RECORDS);
    return new TraceConfiguration(
        Values.text(conf, MeldKeys.TRACE_DIR),
        (int) Values.number(conf, MeldKeys.TRACE_MAX_FILES, 1, MAX_FILES),
        Values.number(conf, MeldKeys.TRACE_FILE_BYTES, MIN_FILE_BYTES, Long.MAX_VALUE),
        // Up to the next power of two.
        Integer.highestOneBit(records - 1) << 1,
        Values.choice(conf, MeldKeys.TRACE_DIRECTORIES, Directories.class) == Directories.INODE);
  }

  public Path folder(String dataNodeUuid) {
    return new File(folder, dataNodeUuid).getAbsoluteFile().toPath();
  }
}
