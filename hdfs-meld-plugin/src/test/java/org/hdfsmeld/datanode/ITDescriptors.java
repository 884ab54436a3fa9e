package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Random;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.datanode.DatanodeUtil;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a short-circuit client is handed: the DataNode asks its dataset for the two streams of a
 * block and passes their descriptors on. Passing needs Hadoop's native library, so Hadoop's own
 * tests of it skip themselves where it is absent; this one reads the descriptors itself.
 */
class ITDescriptors {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");

  @Test
  void aClientReadsTheBlockFromTheDescriptor(@TempDir Path dir) throws Exception {
    Configuration conf = new HdfsConfiguration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, dir.toString());
    conf.set("dfs.datanode.fsdataset.factory", MeldFsDatasetFactory.class.getName());
    // The scanner reads new blocks too.
    conf.set("dfs.block.scanner.volume.bytes.per.second", "0");
    byte[] data = new byte[3 << 20];
    new Random(1).nextBytes(data);
    try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).build()) {
      DistributedFileSystem fs = cluster.getFileSystem();
      try (FSDataOutputStream out = fs.create(FILE)) {
        out.write(data);
      }
      // From the NameNode: DFSTestUtil.getFirstBlock reads the block, and a little beyond its
      // return.
      ExtendedBlock block = fs.getClient().getLocatedBlocks(FILE.toString(), 0).get(0).getBlock();
      FsDatasetSpi<?> dataset = cluster.getDataNodes().get(0).getFSDataset();
      long reads = sum("forwarded_reads");

      // As DataNode.requestShortCircuitFdsForRead does, down to the cast.
      try (FileInputStream in = (FileInputStream) dataset.getBlockInputStream(block, 0);
          FileInputStream meta = DatanodeUtil.getMetaDataInputStream(block, dataset)) {
        assertThat(read(in)).isEqualTo(data);
        assertThat(read(meta)).hasSize((int) dataset.getMetaDataInputStream(block).getLength());
      }

      assertThat(sum("opened_unread")).isEqualTo(1);
      assertThat(sum("forwarded_reads")).as("reads of the client are unseen").isEqualTo(reads);
    }
  }

  /** All that another stream over the same descriptor reads. */
  private static byte[] read(FileInputStream passed) throws IOException {
    assertThat(passed.getFD().valid()).isTrue();
    InputStream client = new FileInputStream(passed.getFD());
    return client.readAllBytes();
  }

  private static long sum(String counter) throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    long sum = 0;
    for (ObjectName name :
        server.queryNames(new ObjectName("Hadoop:service=DataNode,name=MeldVolume-*"), null)) {
      sum += JMX.newMXBeanProxy(server, name, MeldVolumeMXBean.class).getCounters().get(counter);
    }
    return sum;
  }
}
