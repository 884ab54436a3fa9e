package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockManagerTestUtil;
import org.apache.hadoop.hdfs.server.blockmanagement.DatanodeDescriptor;
import org.apache.hadoop.hdfs.server.blockmanagement.DatanodeManager;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsVolumeImpl;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the balancer, the mover, {@code setrep} and decommissioning delete are replicas, not blocks:
 * what is known of how long blocks live stays as it is. Of {@code meld.upkeep.blocks} blocks.
 */
class ITUpkeep {
  private static final int BLOCKS = Integer.getInteger("meld.upkeep.blocks", 100);
  private static final int FILES = 10;
  private static final int BLOCK_BYTES = 64 << 10;

  /** The blocks take half of a volume. */
  private static final long VOLUME_BYTES = 2L * BLOCKS * BLOCK_BYTES;

  private static final Path TABLE = new Path("/table");
  private static final Pattern LIFE =
      Pattern.compile(
          "(?<node>127\\.0\\.0\\.1:\\d+) [^\\n]*"
              + "(\\n +kind [^\\n]*?(?<deaths>\\d+)[^\\n;]* blocks deleted after (?<hours>\\S+) hours)?");

  @TempDir java.nio.file.Path dir;

  private MeldCluster cluster;
  private DistributedFileSystem files;

  private void write(String name, int blocks) {
    try (FSDataOutputStream out = files.create(new Path(TABLE, name))) {
      out.write(Content.random(name.hashCode(), blocks * BLOCK_BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void writeAll(int blocks) {
    IntStream.range(0, FILES).parallel().forEach(i -> write("short-" + i, blocks / FILES));
  }

  /** How long blocks of the table live, by the DataNodes that know it. */
  private Map<String, Double> lives(String file) throws Exception {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    ToolRunner.run(
        new Configuration(files.getConf()),
        new MeldAdmin(new PrintStream(said, true, StandardCharsets.UTF_8), System.err),
        new String[] {"-explain", new Path(TABLE, file).toString()});
    Map<String, Double> lives = new TreeMap<>();
    Matcher life = LIFE.matcher(said.toString(StandardCharsets.UTF_8));
    while (life.find()) {
      if (life.group("hours") != null) {
        lives.put(life.group("node"), Double.valueOf(life.group("hours")));
      }
    }
    return lives;
  }

  /** Replicas of the table's blocks on storage of a type, of one DataNode or of all. */
  private long replicas(StorageType type, DatanodeInfo on) {
    try {
      long replicas = 0;
      for (int i = 0; i < FILES; i++) {
        String file = new Path(TABLE, "short-" + i).toString();
        for (LocatedBlock block :
            files.getClient().getLocatedBlocks(file, 0, Long.MAX_VALUE).getLocatedBlocks()) {
          for (int at = 0; at < block.getLocations().length; at++) {
            boolean there = on == null || on.equals(block.getLocations()[at]);
            replicas += there && block.getStorageTypes()[at] == type ? 1 : 0;
          }
        }
      }
      return replicas;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitReplicas(StorageType type, long replication) {
    await()
        .until(
            () ->
                replicasNow(type) == replication * BLOCKS
                    && Volumes.total("blocks_mapped") == replication * BLOCKS);
  }

  /** The replicas when HDFS has gone on by a step: what is to be copied or deleted is told. */
  private long replicasNow(StorageType type) throws IOException {
    BlockManagerTestUtil.computeAllPendingWork(cluster.hdfs().getNamesystem().getBlockManager());
    cluster.hdfs().triggerHeartbeats();
    cluster.hdfs().triggerBlockReports();
    return replicas(type, null);
  }

  private FsDatasetSpi.FsVolumeReferences volumes(int dataNode) throws IOException {
    return cluster.hdfs().getDataNodes().get(dataNode).getFSDataset().getFsVolumeReferences();
  }

  /** For the balancer to have something to do. */
  private void shrinkVolumes() throws IOException {
    for (int i = 0; i < cluster.hdfs().getDataNodes().size(); i++) {
      try (FsDatasetSpi.FsVolumeReferences all = volumes(i)) {
        for (FsVolumeSpi volume : all) {
          ((FsVolumeImpl) volume).setCapacityForTesting(VOLUME_BYTES);
        }
      }
    }
    cluster.hdfs().triggerHeartbeats();
  }

  private void run(String tool, String... arguments) throws Exception {
    Constructor<?> made = Class.forName(tool).getDeclaredConstructor();
    made.setAccessible(true);
    Configuration conf = new Configuration(cluster.hdfs().getConfiguration(0));
    ToolRunner.run(conf, (Tool) made.newInstance(), arguments);
  }

  private DataNode third() {
    return cluster.hdfs().getDataNodes().get(2);
  }

  private void decommission() throws Exception {
    DatanodeManager manager = cluster.hdfs().getNamesystem().getBlockManager().getDatanodeManager();
    DatanodeDescriptor node = manager.getDatanode(third().getDatanodeId());
    Files.writeString(excluded(), node.getXferAddr());
    manager.refreshNodes(cluster.hdfs().getConfiguration(0));
    await().until(node::isDecommissioned);
    Files.writeString(excluded(), "");
    manager.refreshNodes(cluster.hdfs().getConfiguration(0));
    await().until(node::isInService);
  }

  private java.nio.file.Path excluded() {
    return dir.resolve("excluded");
  }

  @Test
  void lifetimesStayAsTheyWereLearned() throws Exception {
    String profile = Profiles.divided(dir, "[fdp]\nhandles = 4");
    Files.createFile(excluded());
    try (MeldCluster started =
        MeldCluster.builder()
            .dataNodes(3)
            .storageTypes(StorageType.DISK, StorageType.ARCHIVE)
            .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
            .set("dfs.blocksize", Integer.toString(BLOCK_BYTES))
            .set("dfs.replication", "2")
            .set("dfs.namenode.replication.max-streams", "100")
            .set("dfs.namenode.replication.max-streams-hard-limit", "200")
            .set("dfs.namenode.replication.work.multiplier.per.iteration", "100")
            .set("dfs.namenode.decommission.interval", "1s")
            .set("dfs.hosts.exclude", excluded().toString())
            .set("dfs.balancer.getBlocks.min-block-size", "1")
            .set("dfs.datanode.balance.max.concurrent.moves", "100")
            .meld("hint.timeout", "30s")
            .meld("profile", profile)
            .start()) {
      cluster = started;
      files = cluster.fileSystem();
      MiniDFSCluster.DataNodeProperties third = cluster.hdfs().stopDataNode(2);
      cluster.hdfs().setDataNodeDead(third.getDatanode().getDatanodeId());
      writeAll(4 * FILES);
      for (int i = 0; i < FILES; i++) {
        files.delete(new Path(TABLE, "short-" + i), false);
      }
      long learned = 2L * 4 * FILES;
      await().until(() -> Volumes.total("lifetimes_learned") == learned);
      writeAll(BLOCKS);
      Map<String, Double> before = lives("short-0");
      assertThat(before).hasSize(2);

      cluster.hdfs().restartDataNode(third, true);
      cluster.hdfs().waitActive();
      shrinkVolumes();
      run("org.apache.hadoop.hdfs.server.balancer.Balancer$Cli", "-threshold", "1");
      DatanodeInfo last = new DatanodeInfoBuilder().setNodeID(third().getDatanodeId()).build();
      assertThat(replicas(StorageType.DISK, last)).as("balanced").isGreaterThan(BLOCKS / 2);

      for (String policy : new String[] {"COLD", "HOT"}) {
        files.setStoragePolicy(TABLE, policy);
        run("org.apache.hadoop.hdfs.server.mover.Mover$Cli", "-p", TABLE.toString());
        awaitReplicas(policy.equals("COLD") ? StorageType.ARCHIVE : StorageType.DISK, 2);
      }
      decommission();
      for (short replication : new short[] {1, 3, 2}) {
        for (int i = 0; i < FILES; i++) {
          files.setReplication(new Path(TABLE, "short-" + i), replication);
        }
        awaitReplicas(StorageType.DISK, replication);
      }

      // Questions are answered in their order: those of what was given up come before these.
      Path kept = new Path("/kept");
      DFSTestUtil.createFile(files, kept, BLOCK_BYTES, (short) 3, 1);
      long known = Volumes.total("lifetimes_learned");
      files.delete(kept, false);
      await().until(() -> Volumes.total("lifetimes_learned") == known + 3);
      // The balancer and the mover, which runs twice, have files of their own while they run.
      assertThat(known - learned).isBetween(0L, 3L * 2);
      Map<String, Double> after = new TreeMap<>();
      for (int i = 0; i < FILES; i++) {
        lives("short-" + i).forEach(after::putIfAbsent);
      }
      System.out.printf("Lives in hours: %s before, %s after; %d blocks%n", before, after, BLOCKS);
      assertThat(after.keySet()).isEqualTo(before.keySet());
      before.forEach(
          (node, hours) -> assertThat(after.get(node) / hours).as(node).isBetween(0.98, 1.02));
      assertThat(Volumes.total("errors")).isZero();
    }
  }
}
