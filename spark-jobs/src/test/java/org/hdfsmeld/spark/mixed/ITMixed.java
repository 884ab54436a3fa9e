package org.hdfsmeld.spark.mixed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.spark.LocalHdfs;
import org.hdfsmeld.spark.generate.RawFiles;
import org.hdfsmeld.spark.measure.LatencySummary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A scan with and without a writer on HDFS: what belongs to which phase, and what is left. */
class ITMixed {
  private static final int ROUNDS = 2;
  private static final int PHASE_MS = 1000;
  private static final int BIN_MS = 100;
  private static final double READ_MIB_PER_SECOND = 4;

  private static LocalHdfs hdfs;
  private static MixedResult result;

  @BeforeAll
  static void mix() throws Exception {
    hdfs = new LocalHdfs("mixed", 2);
    RawFiles.generate(hdfs.session, new RawFiles.Request(3, 1 << 20, 1, hdfs.path("data"), false));
    result = MixedRun.run(hdfs.session, request(1, "data"));
  }

  @AfterAll
  static void stop() {
    hdfs.close();
  }

  @Test
  void writesInOneKindOfPhaseOnly() {
    assertThat(result.alone().ingestMibPerSecond()).isZero();
    assertThat(result.withWriter().ingestMibPerSecond()).isPositive();
    assertThat(result.rounds()).hasSize(ROUNDS);
    for (MixedResult.Round round : result.rounds()) {
      assertThat(round.alone().ingestMibPerSecond()).isZero();
      assertThat(round.withWriter().ingestMibPerSecond()).isPositive();
      assertThat(round.alone().readMibPerSecond()).isPositive();
      assertThat(round.withWriter().readMibPerSecond()).isPositive();
    }
  }

  @Test
  void everyRequestIsInOneRoundAndOneBin() {
    for (boolean writer : new boolean[] {false, true}) {
      LatencySummary latency = (writer ? result.withWriter() : result.alone()).latency();
      List<MixedResult.Point> points =
          result.series().stream().filter(point -> point.writer() == writer).toList();
      assertThat(latency.requests())
          .isPositive()
          .isEqualTo(points.stream().mapToLong(MixedResult.Point::requests).sum())
          .isEqualTo(
              result.rounds().stream()
                  .map(round -> writer ? round.withWriter() : round.alone())
                  .mapToLong(load -> load.latency().requests())
                  .sum());
      assertThat(latency.maxUs())
          .isEqualTo(points.stream().mapToDouble(MixedResult.Point::maxUs).max().orElseThrow());
    }
    assertThat(result.ratio().p99())
        .isEqualTo(result.withWriter().latency().p99Us() / result.alone().latency().p99Us());
  }

  @Test
  void readsNoFasterThanTold() {
    // What is due at the phase's end, and the request that is under way then.
    long atMost = (long) READ_MIB_PER_SECOND * 16 * PHASE_MS / 1000 + 1;
    for (MixedResult.Round round : result.rounds()) {
      assertThat(round.alone().latency().requests()).isBetween(1L, atMost);
      assertThat(round.withWriter().latency().requests()).isBetween(1L, atMost);
      assertThat(round.alone().lateMs()).isNotNegative();
    }
  }

  @Test
  void phasesFollowEachOther() {
    assertThat(result.series())
        .isSortedAccordingTo((a, b) -> Long.compare(a.startMs(), b.startMs()));
    assertThat(result.series().get(0).startMs()).isNotNegative();
    boolean writer = false;
    int switches = 0;
    for (MixedResult.Point point : result.series()) {
      switches += point.writer() == writer ? 0 : 1;
      writer = point.writer();
    }
    assertThat(switches).isEqualTo(2 * ROUNDS - 1);
  }

  @Test
  void leavesNothingBehind() throws Exception {
    assertThat(hdfs.fs().listStatus(new Path(hdfs.path("ingest")))).isEmpty();
  }

  @Test
  void saysWhatIsMissingWhenThereAreNotEnoughSlots() {
    assertThatThrownBy(() -> MixedRun.run(hdfs.session, request(2, "data")))
        .hasMessageContaining("3 tasks must run at once")
        .hasMessageContaining("2 task slots")
        .hasMessageContaining("local[3]");
  }

  @Test
  void refusesToScanNothing() throws Exception {
    hdfs.write(hdfs.path("empty/file"), new byte[0]);
    assertThatThrownBy(() -> MixedRun.run(hdfs.session, request(1, "empty")))
        .hasMessageContaining("empty");
  }

  private static MixedRun.Request request(int readers, String data) {
    return new MixedRun.Request(
        List.of(hdfs.path(data)),
        hdfs.path("ingest"),
        PHASE_MS,
        200,
        ROUNDS,
        1 << 16,
        LocalHdfs.BLOCK_BYTES,
        1,
        readers,
        1,
        READ_MIB_PER_SECOND,
        0,
        BIN_MS);
  }
}
