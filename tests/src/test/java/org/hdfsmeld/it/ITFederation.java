package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two nameservices on one DataNode: each block's hint comes from its own. */
class ITFederation {
  private static final int FULL_BYTES = 2 << 20;
  private static final Path TABLE = new Path("/table");

  @TempDir File directory;

  private MiniDFSCluster cluster;

  @BeforeEach
  void start() throws Exception {
    Configuration conf = new Configuration();
    conf.set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
    conf.set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService");
    conf.set("dfs.datanode.meld.hint.timeout", "30s");
    conf.set("dfs.datanode.meld.hint.min-bytes", "1m");
    conf.set("dfs.datanode.meld.state.enabled", "false");
    conf.set("dfs.replication", "1");
    conf.set("dfs.block.scanner.volume.bytes.per.second", "0");
    // No retry of a client takes the connections of a NameNode that is down for long.
    conf.set("ipc.client.connect.max.retries", "0");
    try (QuickWebHdfs quick = QuickWebHdfs.start()) {
      cluster =
          new MiniDFSCluster.Builder(conf, directory)
              .nnTopology(MiniDFSNNTopology.simpleFederatedTopology(2))
              .numDataNodes(1)
              .build();
    }
    cluster.waitActive();
    say(0, "random");
    say(1, "random");
  }

  @AfterEach
  void stop() {
    cluster.shutdown();
  }

  private void say(int nameservice, String pattern) throws IOException {
    FileSystem files = cluster.getFileSystem(nameservice);
    files.mkdirs(TABLE);
    files.setXAttr(TABLE, "user.meld.read-pattern", pattern.getBytes(StandardCharsets.US_ASCII));
  }

  private Path write(int nameservice, String name) throws IOException {
    Path file = new Path(TABLE, name);
    Content.write(cluster.getFileSystem(nameservice), file, name.hashCode(), FULL_BYTES);
    return file;
  }

  @Test
  void eachNameserviceIsAskedForItsBlocks() throws Exception {
    write(0, "first");
    write(1, "second");
    assertThat(Volumes.total("hints_explicit")).isEqualTo(2);
    assertThat(Volumes.total("hints_none_by_silence")).isZero();
  }

  /** Clients of a federation have one file system, in which the nameservices are folders. */
  @Test
  void commandsWorkOnAViewOfTheNameservices() throws Exception {
    Configuration view = new Configuration(cluster.getConfiguration(0));
    view.set("fs.defaultFS", "viewfs://all");
    for (int i = 0; i < 2; i++) {
      view.set("fs.viewfs.mounttable.all.link./ns" + i, cluster.getURI(i) + "/");
    }
    write(1, "second");
    String path = "viewfs://all/ns1" + new Path(TABLE, "second");
    assertThat(meld(view, "-getReadPattern", path)).contains("random (inherited from " + TABLE);
    assertThat(meld(view, "-explain", path)).contains("random, explicit", "of its directory");
    assertThat(meld(view, "-report")).contains("Blocks: 1", "explicit 1");
  }

  private static String meld(Configuration conf, String... arguments) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    int code = ToolRunner.run(conf, new MeldAdmin(out, out), arguments);
    String said = printed.toString(StandardCharsets.UTF_8);
    assertThat(code).as(said).isZero();
    return said;
  }

  @Test
  void whileOneIsDownTheOthersBlocksHaveHintsAndItsOwnAreAskedForUntilItIsUp() throws Exception {
    Path file = write(0, "first");
    // It knows of no block then; they are asked for when they are read.
    cluster.restartDataNode(0, true);
    cluster.waitActive();
    try (FSDataInputStream in = cluster.getFileSystem(0).open(file)) {
      cluster.shutdownNameNode(0);
      in.readFully(0, new byte[FULL_BYTES]);
      assertThat(Volumes.total("hints_full_block")).as("nobody has answered").isEqualTo(1);
      assertThat(Volumes.total("hints_none_by_silence")).isEqualTo(1);

      write(1, "second");
      write(1, "third");
      assertThat(Volumes.total("hints_explicit")).as("of the other nameservice").isEqualTo(2);

      cluster.restartNameNode(0);
      await().untilAsserted(() -> assertThat(Volumes.total("hints_explicit")).isEqualTo(3));
    }
  }

  @Test
  void aDataNodeThatStartsWhileOneIsDownAsksTheOther() throws Exception {
    write(1, "first");
    cluster.shutdownNameNode(0);
    MiniDFSCluster.DataNodeProperties stopped = cluster.stopDataNode(0);
    cluster.restartDataNode(stopped, true);
    await().until(() -> cluster.getNamesystem(1).getNumLiveDataNodes() == 1);
    await().ignoreExceptions().untilAsserted(() -> write(1, "second"));
    assertThat(Volumes.total("hints_explicit")).isEqualTo(1);
  }
}
