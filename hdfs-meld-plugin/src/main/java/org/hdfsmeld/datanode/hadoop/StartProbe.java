package org.hdfsmeld.datanode.hadoop;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.hdfs.server.datanode.LocalReplicaInPipeline;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.ReplicaOutputStreams;
import org.apache.hadoop.util.DataChecksum;
import org.hdfsmeld.datanode.io.ReadEvents;
import org.hdfsmeld.datanode.io.WriteEvents;

/**
 * Writes and reads one dummy replica as HDFS does, and sees whether that passes here. What it
 * relies on (the order in which HDFS opens a replica's files, for one) is no interface of Hadoop's.
 *
 * <p>The replica is in the folder of temporary ones, which HDFS empties at its start, and in no map
 * of HDFS: no NameNode hears of it. Its device does not either.
 */
public final class StartProbe implements ReadEvents, WriteEvents {
  /** Below all ids that a NameNode gives. */
  static final long BLOCK_ID = 1;

  private static final int BYTES = 1000;

  private long written;
  private long read;

  private StartProbe() {}

  /**
   * Tries it on a volume.
   *
   * @param folder the volume's folder of temporary replicas of a block pool
   * @return what was not seen; null when all was
   * @throws IOException when the replica cannot be written or read
   */
  public static String run(FsVolumeSpi volume, File folder) throws IOException {
    if (!(volume.getFileIoProvider() instanceof MeldFileIoProvider provider)) {
      return "the volume's file I/O";
    }
    StartProbe probe = new StartProbe();
    provider.probe(probe);
    LocalReplicaInPipeline replica = new LocalReplicaInPipeline(BLOCK_ID, 1, volume, folder, 0);
    try {
      probe.tryOut(replica);
      return probe.unseen();
    } finally {
      replica.deleteBlockData();
      replica.deleteMetadata();
      provider.probe(null);
    }
  }

  private void tryOut(LocalReplicaInPipeline replica) throws IOException {
    DataChecksum checksum = DataChecksum.newDataChecksum(DataChecksum.Type.CRC32C, 512);
    try (ReplicaOutputStreams out = replica.createStreams(true, checksum)) {
      out.writeDataToDisk(new byte[BYTES], 0, BYTES);
      out.getChecksumOut().write(new byte[4]);
    }
    try (InputStream in = replica.getDataInputStream(0)) {
      in.readNBytes(BYTES);
    }
  }

  private String unseen() {
    if (written != BYTES) {
      return "the write of a probe: " + written + " of " + BYTES + " bytes";
    }
    return read == BYTES ? null : "the read of a probe: " + read + " of " + BYTES + " bytes";
  }

  @Override
  public void write(long offset, int length) {
    written += length;
  }

  @Override
  public void consume(long offset, int length) {
    read += Math.max(length, 0);
  }

  @Override
  public void sync() {}

  @Override
  public void longRead() {}

  @Override
  public void close() {}
}
