package org.hdfsmeld.spark.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Random places cover every file to its ends, each place as often as any other. */
class TestLookupPlan {
  private static final int READS = 60_000;

  @Test
  void everyPlaceIsEquallyLikely() throws Exception {
    // 3, 0, 1 and 2 places for reads of 4 bytes.
    LookupPlan plan =
        new LookupPlan(List.of(file("/a", 6), file("/b", 3), file("/c", 4), file("/d", 5)), 4, 9);
    Map<String, Integer> hits = new TreeMap<>();
    for (int read = 0; read < READS; read++) {
      LookupPlan.Place place = plan.place(read);
      hits.merge(place.path() + place.offset(), 1, Integer::sum);
    }
    assertThat(plan.files()).isEqualTo(3);
    assertThat(hits.keySet()).containsExactly("/a0", "/a1", "/a2", "/c0", "/d0", "/d1");
    // Six standard deviations of a binomial distribution of 1/6.
    assertThat(hits.values())
        .allSatisfy(count -> assertThat(count).isCloseTo(READS / 6, within(550)));
  }

  private static FileStatus file(String path, long length) {
    return new FileStatus(length, false, 1, 1 << 20, 0, new Path(path));
  }
}
