package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.nativeio.NativeIO;
import org.junit.jupiter.api.Test;

/**
 * Replicas in memory, which HDFS copies to a disk later: the disk's device has what the disk has.
 */
class ITLazyPersist {
  /** Memory for so many replicas. */
  private static final int REPLICAS = 2;

  private final Map<Integer, byte[]> contents = new HashMap<>();

  private static Path file(int number) {
    return new Path("/file-" + number);
  }

  private void write(MeldCluster cluster, int number) throws IOException {
    byte[] content = Content.random(number, MeldCluster.BLOCK_BYTES);
    try (FSDataOutputStream out =
        cluster
            .fileSystem()
            .create(
                file(number),
                FsPermission.getFileDefault(),
                EnumSet.of(CreateFlag.CREATE, CreateFlag.LAZY_PERSIST),
                4096,
                (short) 1,
                MeldCluster.BLOCK_BYTES,
                null)) {
      out.write(content);
    }
    contents.put(number, content);
  }

  private static long ofDataNode(String counter) throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName activity =
        server
            .queryNames(new ObjectName("Hadoop:service=DataNode,name=DataNodeActivity-*"), null)
            .iterator()
            .next();
    return (Long) server.getAttribute(activity, counter);
  }

  @Test
  void whatHdfsDeletesIsGoneFromTheDevice() throws Exception {
    NativeIO.POSIX.CacheManipulator before = NativeIO.POSIX.getCacheManipulator();
    NativeIO.POSIX.setCacheManipulator(new NativeIO.POSIX.NoMlockCacheManipulator());
    try (MeldCluster cluster =
        MeldCluster.builder()
            .storageTypes(StorageType.RAM_DISK, StorageType.DISK)
            .set(
                "dfs.datanode.max.locked.memory",
                Integer.toString(REPLICAS * MeldCluster.BLOCK_BYTES))
            .set("dfs.datanode.lazywriter.interval.sec", "1")
            .start()) {
      write(cluster, 1);
      write(cluster, 2);
      await().until(() -> ofDataNode("RamDiskBlocksLazyPersisted") == 2);
      assertThat(Volumes.total("blocks_mapped")).isEqualTo(2);

      // In memory still, and on the disk: HDFS deletes what it saved itself.
      cluster.fileSystem().delete(file(1), false);
      contents.remove(1);
      await().until(() -> Volumes.total("blocks_mapped") == 1);

      // One of the others leaves the memory for the last.
      write(cluster, 3);
      await().until(() -> ofDataNode("RamDiskBlocksLazyPersisted") == 3);
      write(cluster, 4);
      await().until(() -> ofDataNode("RamDiskBlocksLazyPersisted") == 4);
      assertThat(ofDataNode("RamDiskBlocksEvicted")).isPositive();
      assertThat(Volumes.total("blocks_mapped")).isEqualTo(3);
      for (Map.Entry<Integer, byte[]> content : contents.entrySet()) {
        Content.assertSame(cluster.fileSystem(), file(content.getKey()), content.getValue());
      }

      for (int number : contents.keySet()) {
        cluster.fileSystem().delete(file(number), false);
      }
      await().until(() -> Volumes.total("blocks_mapped") == 0);
      await().until(() -> Volumes.total("mapped_pages") == 0);
      assertThat(Volumes.total("errors")).isZero();
    } finally {
      NativeIO.POSIX.setCacheManipulator(before);
    }
  }
}
