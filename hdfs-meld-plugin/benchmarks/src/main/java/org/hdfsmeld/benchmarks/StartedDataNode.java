package org.hdfsmeld.benchmarks;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.blockmanagement.DatanodeDescriptor;
import org.apache.hadoop.hdfs.server.datanode.DataNode;

/**
 * The JVM of a NameNode whose DataNode starts, in a JVM of its own as a daemon does, when a line of
 * its input says so, {@code start BLOCKS}, and which answers with the nanoseconds until the
 * NameNode knows so many blocks; or writes them, {@code create BLOCKS}.
 */
final class StartedDataNode implements Node {
  private static final int BLOCK_BYTES = 4 << 10;
  private static final int BLOCKS_OF_FILE = 500;
  private static final long POLL_NS = 10_000_000;

  private final Configuration conf;
  private final MiniDFSCluster cluster;
  private final File folder;
  private Process dataNode;

  private StartedDataNode(String[] args) throws IOException {
    folder = new File(args[0]);
    conf = HdfsNode.configuration(Variant.valueOf(args[1]));
    conf.setInt("dfs.blocksize", BLOCK_BYTES);
    conf.setInt("dfs.namenode.fs-limits.min-block-size", 0);
    cluster =
        new MiniDFSCluster.Builder(conf, folder)
            .numDataNodes(0)
            .waitSafeMode(false)
            .format(!folder.exists())
            .storagesPerDatanode(1)
            .build();
  }

  /** The arguments: folder and variant. */
  public static void main(String[] args) {
    Node.serve(() -> new StartedDataNode(args));
  }

  @Override
  public String answer(String command) throws IOException {
    String[] words = command.split(" ");
    int blocks = Integer.parseInt(words[1]);
    long begin = System.nanoTime();
    if (words[0].equals("create")) {
      cluster.startDataNodes(conf, 1, true, null, null);
      cluster.waitActive();
      create(cluster.getFileSystem(), blocks);
    } else {
      dataNode = start();
    }
    await(blocks);
    return Long.toString(System.nanoTime() - begin);
  }

  private Process start() throws IOException {
    Configuration own = new Configuration(conf);
    own.set("fs.defaultFS", cluster.getURI().toString());
    own.set("dfs.datanode.data.dir", cluster.getInstanceStorageDir(0, 0).toURI().toString());
    for (String address : List.of("address", "ipc.address", "http.address")) {
      own.set("dfs.datanode." + address, "127.0.0.1:0");
    }
    File settings = new File(folder.getParentFile(), "datanode.xml");
    try (OutputStream out = new FileOutputStream(settings)) {
      own.writeXml(out);
    }
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx1g",
            "-Dslf4j.internal.verbosity=ERROR",
            "-cp",
            System.getProperty("java.class.path"),
            DataNode.class.getName(),
            "-conf",
            settings.toString())
        .redirectErrorStream(true)
        .redirectOutput(new File(folder.getParentFile(), "datanode.log"))
        .start();
  }

  /** The cluster's own shutdown has its folder deleted when the JVM ends. */
  @Override
  public void close() {
    if (dataNode != null) {
      dataNode.destroy();
      NodeProcess.end(dataNode);
    }
    cluster.shutdownDataNodes();
    cluster.shutdownNameNodes();
  }

  private static void create(FileSystem files, int blocks) {
    byte[] content = new byte[BLOCKS_OF_FILE * BLOCK_BYTES];
    IntStream.range(0, blocks / BLOCKS_OF_FILE)
        .parallel()
        .forEach(
            i -> {
              try (FSDataOutputStream out =
                  files.create(new org.apache.hadoop.fs.Path("/table/part-" + i), (short) 1)) {
                out.write(content);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  private void await(int blocks) {
    long known = 0;
    while (known < blocks) {
      if (dataNode != null && !dataNode.isAlive()) {
        throw new IllegalStateException("The DataNode ended early; its log says why");
      }
      LockSupport.parkNanos(POLL_NS);
      Set<DatanodeDescriptor> nodes =
          cluster.getNamesystem().getBlockManager().getDatanodeManager().getDatanodes();
      known = nodes.stream().mapToLong(DatanodeDescriptor::numBlocks).sum();
    }
  }
}
