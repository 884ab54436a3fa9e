package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;

import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TestHintCache {
  private final HintCache cache = new HintCache(1000);

  private static BlockHint hint(long fileId) {
    return new BlockHint(ReadPattern.RANDOM, 0, fileId, 1, 0);
  }

  /** In a row: blocks, and what a DataNode has of block groups, whose ids are 16 apart. */
  @ParameterizedTest
  @CsvSource({"1073741824, 1", "-9223372036854775792, 16", "-9223372036854775788, 16"})
  void keepsAsManyBlocksInARowAsItHasRoomFor(long first, int step) {
    for (int i = 0; i < 1024; i++) {
      cache.put(new BlockKey("BP-1", first + (long) i * step), hint(i));
    }
    for (int i = 0; i < 1024; i++) {
      assertThat(cache.get("BP-1", first + (long) i * step)).isEqualTo(hint(i));
    }
  }

  @Test
  void theOldestGivesWay() {
    for (long id = 0; id < 100_000; id++) {
      cache.put(new BlockKey("BP-1", id), hint(id));
    }
    assertThat(cache.get("BP-1", 99_999)).isEqualTo(hint(99_999));
    assertThat(cache.get("BP-1", 0)).isNull();
  }

  @Test
  void poolsAreApart() {
    cache.put(new BlockKey("BP-1", 7), hint(1));
    assertThat(cache.get("BP-2", 7)).isNull();
    cache.put(new BlockKey("BP-2", 7), hint(2));
    assertThat(cache.get("BP-1", 7)).isEqualTo(hint(1));
    assertThat(cache.get("BP-2", 7)).isEqualTo(hint(2));
  }

  @Test
  void theLastHintOfABlockCounts() {
    cache.put(new BlockKey("BP-1", 7), hint(1));
    cache.put(new BlockKey("BP-1", 8), hint(2));
    cache.put(new BlockKey("BP-1", 7), hint(3));
    assertThat(cache.get("BP-1", 7)).isEqualTo(hint(3));
    for (long id = 1; id < 8; id++) {
      // Of the same set: had the first entry stayed behind, it would come up now.
      cache.put(new BlockKey("BP-1", 7 + id * 1024), hint(id));
    }
    assertThat(cache.get("BP-1", 7)).isIn(hint(3), null);
  }
}
