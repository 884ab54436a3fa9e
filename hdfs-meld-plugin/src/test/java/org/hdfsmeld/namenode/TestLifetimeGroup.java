package org.hdfsmeld.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TestLifetimeGroup {
  private static long of(String path) {
    return LifetimeGroup.of(List.of(path.split("/")));
  }

  @Test
  void partitionsAndFilesUnderWayAreOfTheirTable() {
    long table = of("/warehouse/sales");
    for (String below :
        List.of(
            "/date=2026-11-27",
            "/date=2026-11-27/hour=3",
            "/_temporary/0/_temporary/attempt_202611270101_0001_m_000000_0",
            "/.spark-staging-5d6c1ab8-e21a/date=2026-11-27",
            "/.hive-staging_hive_2026-11-27_10-00-00_123_456-1/-ext-10000")) {
      assertThat(of("/warehouse/sales" + below)).as(below).isEqualTo(table);
    }
    assertThat(of("/warehouse/returns")).isNotEqualTo(table);
    assertThat(of("/warehouse/sales/archive")).isNotEqualTo(table);
    assertThat(of("/warehousesales")).isNotEqualTo(table);
  }

  @Test
  void foldersThatDifferInNumbersAreAlike() {
    assertThat(of("/user/ada/.staging/job_1732700000000_0042"))
        .isEqualTo(of("/user/ada/.staging/job_1732800000000_7"));
    assertThat(of("/logs/2026/11/27")).isEqualTo(of("/logs/2025/1/2"));
    assertThat(of("/tmp/5d6c1ab8e21a4f00")).isEqualTo(of("/tmp/0d6c1ab8e21a4fff"));
    assertThat(of("/tmp/feedface")).as("a word").isNotEqualTo(of("/tmp/deadbeef"));
    assertThat(LifetimeGroup.general("q3-defaced2026x")).isEqualTo("q#-#x");
  }

  @Test
  void noGroupIsZero() {
    assertThat(LifetimeGroup.of(List.of())).isNotZero();
  }
}
