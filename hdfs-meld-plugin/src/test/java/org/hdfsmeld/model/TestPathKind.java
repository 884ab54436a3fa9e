package org.hdfsmeld.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TestPathKind {
  private static final String UUID_1 = "5d6c1ab8-e21a-4f00-8d32-0a1b2c3d4e5f";

  private static String of(String path) {
    return PathKind.of(path).words();
  }

  @ParameterizedTest
  @CsvSource({
    "/logs/2026/11/27/web-3.log, /logs/#/#/#/web-#.log",
    "/logs/2026-11-27T10:00/x, /logs/#-#-#T#:#/x",
    "/user/ada/.staging/job_1732700000000_0042/job.xml, /user/ada/.staging/job_#_#/job.xml",
    "/tmp/5d6c1ab8e21a4f00/x, /tmp/#/x",
    "/tmp/q3-defaced2026x/x, /tmp/q#-defaced#x/x",
    "/tmp/a1b2c3d/x, /tmp/#/x",
    "/tmp/feedface/cafe, /tmp/feedface/cafe",
    "/v2/parquet2/s3, /v#/parquet#/s#",
    "/t/date=2026-11-27/region=EU/part-00000, /t/date=#/region=#/part-#",
    "/t/=x/a=b, /t/=x/a=b",
    "/t/20261127_101112_00042_x8k3n, /t/#",
    "/t/20261127_101112_00042_abcde, /t/#",
    "/t/2026_11_27_daily, /t/#_#_#_daily",
    "/t/delta_0000001_0000001_0000/bucket_00000, /t/delta_#_#_#/bucket_#",
    "/t/#, /t/#",
    "//a///b, /a/b",
  })
  void changingPartsAreReplaced(String path, String words) {
    assertThat(of(path)).isEqualTo(words);
  }

  /** What a committer renames has the kind that it will have then. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/_temporary/0/_temporary/attempt_202611270101_0001_m_000000_0/date=1/part-00003-U.parquet",
        "/_temporary/0/task_202611270101_0001_m_000000/date=1/part-00003-U.parquet",
        "/_temporary/manifest_U/0/tasks/attempt_2026_0001_m_000000_0/date=1/part-00003-U.parquet",
        "/.spark-staging-U/date=1/part-00003-U.parquet",
        "/.spark-staging-U/_temporary/0/_temporary/attempt_1_1_m_0_0/date=1/part-00003-U.parquet",
        "/.hive-staging_hive_2026-11-27_10-00-00_123_456-1/-ext-10000/date=1/part-00003-U.parquet",
        "/.hive-staging_hive_2026-11-27_10-00-00_123_4-1/_task_tmp.-ext-10000/date=1/"
            + "_tmp.part-00003-U.parquet",
        "/_impala_insert_staging/e14b5a3f7c8d9e0f_1a2b3c4d00000000/.e14b5a3f7c8d9e0f_1_2_dir/"
            + "date=1/part-00003-U.parquet",
        "/.tmp/date=1/part-00003-U.parquet",
        "/date=1/part-00003-U.parquet._COPYING_",
        "/date=1/part-00003-U.parquet.tmp",
        "/date=1/.part-00003-U.parquet.inprogress.U",
      })
  void whatIsUnderWayIsOfTheKindOfItsDestination(String below) {
    String path = "/warehouse/sales" + below.replace("U", UUID_1);
    assertThat(of(path)).isEqualTo("/warehouse/sales/date=#/part-#-#.parquet");
    assertThat(PathKind.of(path).parent().words()).isEqualTo("/warehouse/sales");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/user/ada/.Trash/Current/warehouse/sales/part-3",
        "/user/ada/.Trash/261127100000/warehouse/sales/part-3",
        "/zone/.Trash/ada/Current/warehouse/sales/part-3",
        "/warehouse/.snapshot/s1/sales/part-3",
        "/.reserved/raw/warehouse/sales/part-3",
      })
  void trashAndSnapshotsHaveTheKindsOfWhatTheyKeep(String path) {
    assertThat(of(path)).isEqualTo("/warehouse/sales/part-#");
  }

  @Test
  void namesThatOnlyLookUnderWayStay() {
    assertThat(of("/a/_temporary")).isEqualTo("/a/_temporary");
    assertThat(of("/a/.Trash/b")).isEqualTo("/a/.Trash/b");
    assertThat(of("/a/.Trash/Current")).isEqualTo("/a/.Trash/Current");
    assertThat(of("/a/attempt_1/2/x")).isEqualTo("/a/attempt_#/#/x");
    assertThat(of("/a/.tmp")).isEqualTo("/a/.tmp");
    assertThat(of("/a/.tmpfiles/x")).isEqualTo("/a/.tmpfiles/x");
    assertThat(of("")).isEmpty();
    assertThat(of("/")).isEmpty();
    assertThat(PathKind.of("/").parent().words()).isEmpty();
  }

  @Test
  void thousandsOfRandomNamesAreOneKind() {
    Random random = new Random(1);
    List<Function<String, String>> shapes =
        List.of(
            uuid -> uuid,
            uuid -> "part-" + random.nextInt(1000) + "-" + uuid + "-c000.snappy.parquet",
            uuid -> uuid.toUpperCase(Locale.ROOT),
            uuid -> uuid.replace('-', '_'),
            uuid -> uuid.replace("-", ""),
            uuid -> "tmp" + uuid,
            uuid -> "f" + uuid + ".orc",
            uuid -> "{" + uuid + "}/data",
            uuid -> "{" + uuid.replace("-", "") + uuid.substring(0, 8) + "}");
    for (Function<String, String> shape : shapes) {
      Set<String> kinds = new TreeSet<>();
      for (int i = 0; i < 5000; i++) {
        UUID uuid = new UUID(random.nextLong(), random.nextLong());
        kinds.add(of("/t/" + shape.apply(uuid.toString())));
      }
      assertThat(kinds).hasSize(1);
    }
  }

  @Test
  void keysDifferByKindAndPoolAndAreNeverZero() {
    Set<Long> keys = new TreeSet<>();
    for (String path : List.of("/a/b", "/ab", "/a", "/a=1/b", "/B", "")) {
      keys.add(PathKind.of(path).key("BP-1"));
      keys.add(PathKind.of(path).key("BP-2"));
    }
    keys.add(PathKind.keyOfAttribute("BP-1", "/a/b"));
    assertThat(keys).hasSize(13).doesNotContain(0L);
    assertThat(PathKind.of("/logs/1").key("BP-1")).isEqualTo(PathKind.of("/logs/22").key("BP-1"));
  }

  /** Steps, not time: the longest path costs no more for each character than a short one. */
  @Test
  void hostileNamesAreLinear() {
    List<String> names =
        List.of(
            "a",
            "a1",
            "1",
            "5d6c1ab8-e21a-4f00-8d32-0a1b2c3d4e5-",
            "20261127_101112_00042_x8k3_",
            "=",
            ".tmp/",
            "_temporary/",
            ".Trash/",
            ".snapshot/",
            "._COPYING_",
            "\ud800",
            "\u0000\u001b[2J",
            "٣");
    for (String name : names) {
      List<Long> ns = new ArrayList<>();
      for (int chars : new int[] {1000, 8000}) {
        String path = "/" + name.repeat(chars / name.length());
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 200; i++) {
          long begin = System.nanoTime();
          assertThat(of(path).length()).isLessThanOrEqualTo(path.length() + 1);
          best = Math.min(best, System.nanoTime() - begin);
        }
        ns.add(best);
      }
      // Eight times as long; a quadratic one takes 64 times as long.
      assertThat(ns.get(1)).as(name).isLessThan(32 * (ns.get(0) + 10_000));
    }
  }
}
