package org.hdfsmeld.spark.timeline;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.HdfsPathHandle;

/**
 * HDFS whose streams record what is read, for {@link TimelinePlugin}: {@code --conf
 * spark.hadoop.fs.hdfs.impl=org.hdfsmeld.spark.timeline.RecordingFileSystem}. Without the plugin in
 * the JVM it is stock HDFS.
 *
 * <p>Recorded are all calls on the opened stream that return bytes: sequential, positional, into
 * arrays and ByteBuffers, vectored, zero-copy. A call that fails is not, nor are calls on the
 * stream inside it ({@code getWrappedStream}), nor files opened by a {@code FileContext}. Of
 * encrypted files it is the plain bytes, whose positions are the same. Of erasure-coded files the
 * block is the block group, and the offset is that of the data in the group. The first read of a
 * stream asks for all blocks of the file: another question to the NameNode only if they are more
 * than a client knows from opening it, by default ten.
 */
public final class RecordingFileSystem extends DistributedFileSystem {
  /** Hadoop's configuration key for the class that is {@code hdfs://}. */
  static final String IMPLEMENTATION_KEY = "fs.hdfs.impl";

  @Override
  public FSDataInputStream open(Path path, int bufferBytes) throws IOException {
    FSDataInputStream in = super.open(path, bufferBytes);
    ReadLog log = ReadLog.current();
    return log == null ? in : recorded(log, in, fixRelativePart(path).toUri().getPath());
  }

  @Override
  public FSDataInputStream open(PathHandle handle, int bufferBytes) throws IOException {
    FSDataInputStream in = super.open(handle, bufferBytes);
    ReadLog log = ReadLog.current();
    return log == null ? in : recorded(log, in, pathOf(log, handle.bytes()));
  }

  private static FSDataInputStream recorded(ReadLog log, FSDataInputStream in, String path) {
    // Behind a symbolic link it is recorded already, or no HDFS.
    if (!(in instanceof HdfsDataInputStream stock) || in instanceof RecordingInputStream) {
      return in;
    }
    BlockMap blocks =
        new BlockMap(() -> stock.getVisibleLength() == 0 ? List.of() : stock.getAllBlocks());
    try {
      return new RecordingInputStream(stock, new StreamReads(log, path, blocks));
    } catch (RuntimeException e) {
      log.failed(e);
      return in;
    }
  }

  private static String pathOf(ReadLog log, ByteBuffer handle) {
    try {
      return new HdfsPathHandle(handle).getPath();
    } catch (IOException | RuntimeException e) {
      log.failed(e);
      return "";
    }
  }
}
