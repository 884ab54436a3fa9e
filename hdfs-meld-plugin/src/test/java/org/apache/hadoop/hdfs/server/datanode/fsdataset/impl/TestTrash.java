package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.hdfs.server.datanode.DatanodeUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestTrash {
  private static final String POOL = "BP-1-127.0.0.1-1";
  private static final long BLOCK = 0x12345678;

  @TempDir Path current;

  @Test
  void blocksAreFoundWhereHdfsPutsThem() throws Exception {
    assertThat(Trash.blocks(current.toFile(), POOL)).isEmpty();
    assertThat(Trash.length(current.toFile(), POOL, BLOCK)).isNegative();
    File finalized = current.resolve(POOL + "/current/finalized").toFile();
    File folder = DatanodeUtil.idToBlockDir(finalized, BLOCK);
    // As BlockPoolSliceStorage.getTrashDirectory has it.
    String trash = folder.getPath().replaceFirst("(" + POOL + ")/current", "$1/trash");
    Path block = Files.createDirectories(Path.of(trash)).resolve("blk_" + BLOCK);
    Files.writeString(block, "data");
    Files.writeString(block.resolveSibling("blk_" + BLOCK + "_1001.meta"), "sums");
    assertThat(Trash.blocks(current.toFile(), POOL)).containsExactly(BLOCK);
    assertThat(Trash.length(current.toFile(), POOL, BLOCK)).isEqualTo(4);
    assertThat(Trash.length(current.toFile(), POOL, BLOCK + 1)).isNegative();
  }
}
