package org.hdfsmeld.datanode.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import org.junit.jupiter.api.Test;

class TestBlockFiles {
  private static final File CURRENT = new File("/data/1/current");

  @Test
  void tellsDataFromChecksumsAndTheRest() {
    assertThat(BlockFiles.dataBlockId(new File("blk_1073741825"))).hasValue(1073741825);
    assertThat(BlockFiles.dataBlockId(new File("blk_-42"))).hasValue(-42);
    assertThat(BlockFiles.dataBlockId(new File("blk_42_1001.meta"))).isEmpty();
    assertThat(BlockFiles.dataBlockId(new File("blk_42.unlinked"))).isEmpty();
    assertThat(BlockFiles.dataBlockId(new File("replicas"))).isEmpty();
    assertThat(BlockFiles.metaBlockId(new File("blk_-42_1001.meta"))).hasValue(-42);
    assertThat(BlockFiles.metaBlockId(new File("blk_42"))).isEmpty();
    assertThat(BlockFiles.metaBlockId(new File("blk_.meta"))).isEmpty();
  }

  @Test
  void findsThePoolOfEveryFolder() {
    assertThat(pool("BP-1/current/rbw/blk_1")).isEqualTo("BP-1");
    assertThat(pool("BP-1/current/finalized/subdir0/subdir1/blk_1")).isEqualTo("BP-1");
    assertThat(pool("BP-1/tmp/blk_1")).isEqualTo("BP-1");
    assertThat(pool("BP-1/trash/finalized/blk_1")).isEqualTo("BP-1");
    assertThat(BlockFiles.pool(CURRENT, new File("/data/2/current/BP-1/tmp/blk_1"))).isNull();
    assertThat(BlockFiles.pool(CURRENT, new File("/data/1/current/VERSION"))).isNull();
  }

  private static String pool(String path) {
    return BlockFiles.pool(CURRENT, new File(CURRENT, path));
  }
}
