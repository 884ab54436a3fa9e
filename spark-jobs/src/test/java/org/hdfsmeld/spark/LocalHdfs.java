package org.hdfsmeld.spark;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.spark.sql.SparkSession;

/**
 * A Spark session, and a directory of its own in an HDFS with one DataNode that all test classes of
 * this JVM share. Blocks are of 1 MiB.
 */
public final class LocalHdfs implements AutoCloseable {
  public static final int BLOCK_BYTES = 1 << 20;

  private static MiniDFSCluster cluster;

  public final SparkSession session;
  private final Path root;

  public LocalHdfs(String name, int cores) throws IOException {
    this(name, cores, Map.of());
  }

  /**
   * @param config more of Spark's configuration
   */
  public LocalHdfs(String name, int cores, Map<String, Object> config) throws IOException {
    FileSystem fs = start().getFileSystem();
    root = fs.makeQualified(new Path("/" + name));
    fs.delete(root, true);
    session =
        SparkSession.builder()
            .appName(name)
            .master("local[" + cores + "]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "localhost")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", 2)
            .config(config)
            .getOrCreate();
  }

  /** The full name of a path in the directory. */
  public String path(String name) {
    return new Path(root, name).toString();
  }

  public FileSystem fs() throws IOException {
    return cluster.getFileSystem();
  }

  /** Where the DataNode's web server is. */
  public String dataNodeWeb() {
    return "127.0.0.1:" + cluster.getDataNodes().get(0).getInfoPort();
  }

  public void write(String path, byte[] content) throws IOException {
    try (OutputStream out = fs().create(new Path(path), true)) {
      out.write(content);
    }
  }

  public byte[] read(String path) throws IOException {
    try (InputStream in = fs().open(new Path(path))) {
      return in.readAllBytes();
    }
  }

  @Override
  public void close() {
    session.stop();
  }

  private static synchronized MiniDFSCluster start() throws IOException {
    if (cluster == null) {
      Configuration conf = new Configuration();
      conf.setLong("dfs.blocksize", BLOCK_BYTES);
      conf.setLong("dfs.namenode.fs-limits.min-block-size", 4096);
      File directory = Files.createTempDirectory("spark-jobs-hdfs").toFile();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> FileUtil.fullyDelete(directory)));
      cluster = new MiniDFSCluster.Builder(conf, directory).numDataNodes(1).build();
    }
    return cluster;
  }
}
