package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long blocks live that are deleted decides with which others the next ones lie. */
class ITLifetimes {
  private static final int BLOCK_BYTES = 4 << 20;
  private static final String GROUP = "user.meld.lifetime-group";

  @TempDir java.nio.file.Path dir;

  private static void write(MeldCluster cluster, String file) throws IOException {
    try (FSDataOutputStream out = cluster.fileSystem().create(new Path(file))) {
      out.write(Content.random(file.hashCode(), BLOCK_BYTES));
    }
  }

  /** Writes a file of one block; whether it was placed by its lifetime. */
  private static boolean isPlaced(MeldCluster cluster, String file) throws IOException {
    long placed = Volumes.total("lifetime_blocks");
    long others = Volumes.total("hinted_blocks") + Volumes.total("unhinted_blocks");
    write(cluster, file);
    long by = Volumes.total("lifetime_blocks") - placed;
    assertThat(Volumes.total("hinted_blocks") + Volumes.total("unhinted_blocks") - others)
        .isEqualTo(1 - by);
    return by == 1;
  }

  private static void delete(MeldCluster cluster, String path) throws IOException {
    long learned = Volumes.total("lifetimes_learned");
    cluster.fileSystem().delete(new Path(path), true);
    await().until(() -> Volumes.total("lifetimes_learned") == learned + 1);
  }

  @Test
  void blocksOfAGroupGoToTheHandleOfThoseThatWereDeleted() throws Exception {
    String profile = Profiles.divided(dir, "[fdp]\nhandles = 4");
    try (MeldCluster cluster =
        MeldCluster.builder()
            .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
            .set("dfs.blocksize", Integer.toString(BLOCK_BYTES))
            .meld("hint.timeout", "30s")
            .meld("profile", profile)
            .start()) {
      assertThat(isPlaced(cluster, "/etl/job_1/part")).isFalse();
      assertThat(isPlaced(cluster, "/kept/part")).isFalse();
      delete(cluster, "/etl/job_1");
      assertThat(isPlaced(cluster, "/etl/job_2/part")).isTrue();
      assertThat(isPlaced(cluster, "/etl/job_2/date=1/part")).isTrue();
      assertThat(isPlaced(cluster, "/kept/other")).isFalse();
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      ToolRunner.run(
          new Configuration(cluster.fileSystem().getConf()),
          new MeldAdmin(new PrintStream(said, true, StandardCharsets.UTF_8), System.err),
          new String[] {"-explain", "/etl/job_2/part"});
      assertThat(said.toString(StandardCharsets.UTF_8)).contains(", reclaim unit handle 1]");

      // Files with the same value of the attribute are one group, wherever they are.
      for (String folder : new String[] {"/a", "/b"}) {
        cluster.fileSystem().mkdirs(new Path(folder));
        cluster
            .fileSystem()
            .setXAttr(new Path(folder), GROUP, "scratch".getBytes(StandardCharsets.UTF_8));
      }
      assertThat(isPlaced(cluster, "/a/part")).isFalse();
      delete(cluster, "/a/part");
      assertThat(isPlaced(cluster, "/b/part")).isTrue();

      cluster.hdfs().restartDataNode(0, true);
      cluster.hdfs().waitActive();
      assertThat(Volumes.total("history_resets")).isZero();
      assertThat(isPlaced(cluster, "/etl/job_3/part")).isTrue();
      // Of a block from before the restart it is known, too, when it began.
      delete(cluster, "/kept/part");
      assertThat(isPlaced(cluster, "/kept/third")).isTrue();
      assertThat(Volumes.total("errors")).isZero();
    }
  }

  /** What the NameNode has removed by setrep, balancer, mover or decommissioning lives on. */
  @Test
  void aReplicaThatIsGivenUpIsNoDeath() throws Exception {
    String profile = Profiles.divided(dir, "[fdp]\nhandles = 4");
    try (MeldCluster cluster =
        MeldCluster.builder()
            .dataNodes(2)
            .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
            .set("dfs.blocksize", Integer.toString(BLOCK_BYTES))
            .set("dfs.replication", "2")
            .meld("hint.timeout", "30s")
            .meld("profile", profile)
            .start()) {
      int files = 10;
      for (int i = 0; i < files; i++) {
        write(cluster, "/table/part-" + i);
      }
      for (int replication = 1; replication <= 2; replication++) {
        for (int i = 0; i < files; i++) {
          cluster.fileSystem().setReplication(new Path("/table/part-" + i), (short) replication);
        }
        long blocks = (long) files * replication;
        await().until(() -> Volumes.total("blocks_mapped") == blocks);
      }
      // Questions are answered in their order: those of the replicas that were given up come first.
      cluster.fileSystem().delete(new Path("/table"), true);
      await().until(() -> Volumes.total("lifetimes_learned") >= 2 * files);
      assertThat(Volumes.total("lifetimes_learned")).isEqualTo(2 * files);
      assertThat(Volumes.total("errors")).isZero();
    }
  }
}
