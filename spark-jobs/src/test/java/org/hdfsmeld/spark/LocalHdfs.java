package org.hdfsmeld.spark;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.spark.sql.SparkSession;

/** An HDFS with one DataNode, and a Spark session, in this JVM. */
final class LocalHdfs implements AutoCloseable {
  final SparkSession session;
  private final MiniDFSCluster cluster;

  /** Starts both below the directory; blocks are of 1 MiB. */
  LocalHdfs(Path directory, int cores) throws IOException {
    Configuration conf = new Configuration();
    conf.setLong("dfs.blocksize", 1 << 20);
    conf.setLong("dfs.namenode.fs-limits.min-block-size", 4096);
    cluster = new MiniDFSCluster.Builder(conf, directory.toFile()).numDataNodes(1).build();
    session =
        SparkSession.builder()
            .appName("spark-jobs")
            .master("local[" + cores + "]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "localhost")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", 2)
            .config("spark.sql.warehouse.dir", directory.resolve("warehouse").toString())
            .getOrCreate();
  }

  /** The full name of a path in this HDFS. */
  String path(String name) throws IOException {
    return fs().makeQualified(new org.apache.hadoop.fs.Path("/" + name)).toString();
  }

  FileSystem fs() throws IOException {
    return cluster.getFileSystem();
  }

  void write(String path, byte[] content) throws IOException {
    try (OutputStream out = fs().create(new org.apache.hadoop.fs.Path(path), true)) {
      out.write(content);
    }
  }

  byte[] read(String path) throws IOException {
    try (var in = fs().open(new org.apache.hadoop.fs.Path(path))) {
      return in.readAllBytes();
    }
  }

  @Override
  public void close() {
    session.stop();
    cluster.shutdown(true);
  }
}
