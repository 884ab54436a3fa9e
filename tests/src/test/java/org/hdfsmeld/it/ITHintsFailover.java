package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.hdfs.server.namenode.ha.HATestUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An HA pair of NameNodes: hints come from the active one, whichever that is. */
class ITHintsFailover {
  private static final int FULL_BYTES = 2 << 20;

  @TempDir Path directory;

  private int files;

  private static Configuration conf() {
    Configuration conf = new Configuration();
    conf.set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
    conf.set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService");
    conf.set("dfs.datanode.meld.hint.timeout", "30s");
    conf.set("dfs.datanode.meld.hint.min-bytes", "1m");
    conf.set("dfs.replication", "1");
    conf.set("dfs.ha.tail-edits.period", "1");
    return conf;
  }

  /** Not the first write perhaps: while no NameNode was active, no write waited for hints. */
  private void assertHintsCome(FileSystem fileSystem) {
    await().until(() -> isHinted(fileSystem));
    assertThat(isHinted(fileSystem)).isTrue();
  }

  private boolean isHinted(FileSystem fileSystem) {
    long before = Volumes.total("hints_explicit");
    files++;
    try {
      Content.write(
          fileSystem, new org.apache.hadoop.fs.Path("/table/" + files), files, FULL_BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Volumes.total("hints_explicit") == before + 1;
  }

  @Test
  void hintsComeFromTheActiveNameNode() throws Exception {
    try (QuickWebHdfs quick = QuickWebHdfs.start();
        MiniDFSCluster cluster =
            new MiniDFSCluster.Builder(conf(), new File(directory.toString()))
                .nnTopology(MiniDFSNNTopology.simpleHATopology())
                .numDataNodes(1)
                .build()) {
      cluster.waitActive();
      cluster.transitionToActive(0);
      FileSystem fileSystem = HATestUtil.configureFailoverFs(cluster, conf());
      org.apache.hadoop.fs.Path table = new org.apache.hadoop.fs.Path("/table");
      fileSystem.mkdirs(table);
      fileSystem.setXAttr(
          table, "user.meld.read-pattern", new byte[] {'r', 'a', 'n', 'd', 'o', 'm'});
      assertHintsCome(fileSystem);

      cluster.transitionToStandby(0);
      cluster.transitionToActive(1);
      assertHintsCome(fileSystem);

      cluster.shutdownNameNode(0);
      assertHintsCome(fileSystem);
    }
  }
}
