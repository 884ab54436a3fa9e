package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
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

  private void assertHinted(FileSystem fileSystem) throws Exception {
    files++;
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path("/table/" + files);
    Content.write(fileSystem, file, files, FULL_BYTES);
    assertThat(Volumes.total("hints_explicit")).isEqualTo(files);
    assertThat(Volumes.total("hints_full_block")).isZero();
  }

  @Test
  void hintsComeFromTheActiveNameNode() throws Exception {
    try (MiniDFSCluster cluster =
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
      assertHinted(fileSystem);

      cluster.transitionToStandby(0);
      cluster.transitionToActive(1);
      assertHinted(fileSystem);

      cluster.shutdownNameNode(0);
      assertHinted(fileSystem);
    }
  }
}
