package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.SimulatedDataset;
import org.hdfsmeld.model.BlockKey;

/**
 * Hadoop's tracker of replicas in memory, which says when it deletes the copy of one on a disk:
 * that does not pass the DataNode's file I/O provider.
 */
class MeldRamDiskReplicaTracker extends RamDiskReplicaLruTracker {
  @Override
  synchronized void discardReplica(String bpid, long blockId, boolean deleteSavedCopies) {
    RamDiskReplica replica = getReplica(bpid, blockId);
    boolean deletes = deleteSavedCopies && replica != null && replica.getSavedBlockFile() != null;
    super.discardReplica(bpid, blockId, deleteSavedCopies);
    MeldVolume volume =
        deletes && fsDataset instanceof SimulatedDataset dataset
            ? dataset.simulated().of(replica.getLazyPersistVolume())
            : null;
    if (volume != null) {
      volume.deleted(new BlockKey(bpid, blockId));
    }
  }
}
