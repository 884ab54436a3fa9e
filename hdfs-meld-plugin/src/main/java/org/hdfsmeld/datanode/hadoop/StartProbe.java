package org.hdfsmeld.datanode.hadoop;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.hadoop.hdfs.server.datanode.LocalReplicaInPipeline;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.ReplicaOutputStreams;
import org.apache.hadoop.util.DataChecksum;

/**
 * Opens the streams of one dummy replica as HDFS does, and sees whether they are the plugin's. What
 * it relies on (the order in which HDFS opens a replica's files, for one) is no interface of
 * Hadoop's.
 *
 * <p>The replica is empty, in the folder of temporary ones, which HDFS empties at its start, and in
 * no map of HDFS: no NameNode hears of it. Its device does not either.
 */
public final class StartProbe {
  /** Below all ids that a NameNode gives. */
  private static final long BLOCK_ID = 1;

  private StartProbe() {}

  /**
   * Tries it on a volume.
   *
   * @param folder the volume's folder of temporary replicas of a block pool
   * @return what is not seen; null when all is
   * @throws IOException when the replica's files cannot be opened
   */
  public static String run(FsVolumeSpi volume, File folder) throws IOException {
    if (!(volume.getFileIoProvider() instanceof MeldFileIoProvider)) {
      return "the volume's file I/O";
    }
    // HDFS has not named its thread yet.
    Thread thread = Thread.currentThread();
    String name = thread.getName();
    thread.setName("DataNode: probe");
    LocalReplicaInPipeline replica = new LocalReplicaInPipeline(BLOCK_ID, 1, volume, folder, 0);
    try {
      DataChecksum checksum = DataChecksum.newDataChecksum(DataChecksum.Type.CRC32C, 512);
      try (ReplicaOutputStreams out = replica.createStreams(true, checksum)) {
        if (!(out.getDataOut() instanceof BlockOutputStream)) {
          return "the write of a probe";
        }
      }
      try (InputStream in = replica.getDataInputStream(0)) {
        // What is never read would count as a short-circuit reader's.
        return in instanceof BlockInputStream block
                && block.getChannel().read(ByteBuffer.allocate(1), 0) < 0
            ? null
            : "the read of a probe";
      }
    } finally {
      thread.setName(name);
      replica.deleteBlockData();
      replica.deleteMetadata();
    }
  }
}
