package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.server.datanode.DataStorage;
import org.apache.hadoop.hdfs.server.datanode.DatanodeUtil;
import org.hdfsmeld.datanode.volume.BlockFiles;

/** Blocks that were deleted in a rolling upgrade, which a rollback brings back. */
final class Trash {
  /** As of BlockPoolSliceStorage, which keeps it to its package. */
  private static final String FOLDER = "trash";

  private Trash() {}

  private static File folder(File currentDir, String bpid) {
    return new File(new File(currentDir, bpid), FOLDER);
  }

  /** The length in bytes of a block that is in the trash; -1 when it is not. */
  static long length(File currentDir, String bpid, long blockId) {
    File finalized = new File(folder(currentDir, bpid), DataStorage.STORAGE_DIR_FINALIZED);
    File file = BlockFiles.dataFile(DatanodeUtil.idToBlockDir(finalized, blockId), blockId);
    return file.exists() ? file.length() : -1;
  }

  /** The blocks that are in the trash; none when it cannot be read. */
  static List<Long> blocks(File currentDir, String bpid) {
    File trash = folder(currentDir, bpid);
    if (!trash.exists()) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(trash.toPath())) {
      return files
          .map(file -> BlockFiles.dataBlockId(file.toFile()))
          .filter(OptionalLong::isPresent)
          .map(OptionalLong::getAsLong)
          .toList();
    } catch (IOException | RuntimeException e) {
      return List.of();
    }
  }
}
