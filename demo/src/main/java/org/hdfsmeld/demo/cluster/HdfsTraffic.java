package org.hdfsmeld.demo.cluster;

import java.util.function.DoubleSupplier;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageStatistics;

/** How many bytes this JVM's HDFS clients have moved; the measure of progress. */
public final class HdfsTraffic {
  private HdfsTraffic() {}

  /** The fraction of the expected bytes read from now on. */
  public static DoubleSupplier readFraction(long expectedBytes) {
    return fraction("bytesRead", expectedBytes);
  }

  /** The fraction of the expected bytes written from now on. */
  public static DoubleSupplier writtenFraction(long expectedBytes) {
    return fraction("bytesWritten", expectedBytes);
  }

  private static DoubleSupplier fraction(String name, long expectedBytes) {
    long before = count(name);
    return () -> Math.min(0.99, (double) (count(name) - before) / Math.max(1, expectedBytes));
  }

  private static long count(String name) {
    StorageStatistics hdfs = FileSystem.getGlobalStorageStatistics().get("hdfs");
    Long count = hdfs == null ? null : hdfs.getLong(name);
    return count == null ? 0 : count;
  }
}
