package org.hdfsmeld.demo.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which DataNode a file's name leads to. */
class TestPartFilePlacementPolicy {
  @ParameterizedTest
  @CsvSource({
    "/d/part-00000-7fcdb134-f526-4597-ab78-7cfdbc9b2b2c-c000.txt, 0",
    "/d/part-00001-7fcdb134-f526-4597-ab78-7cfdbc9b2b2c-c000.txt, 1",
    "/d/_temporary/0/_temporary/attempt_202601010000_0001_m_000005_7/part-00005-a-c000.txt, 2",
    "/d/part-00010-a-c000.snappy.parquet, 1",
    "/d/part-r-00004, 1",
    "/d/part-m-00002, 2",
  })
  void partFilesGoRound(String path, int node) {
    assertThat(PartFilePlacementPolicy.nodeIndex(path, 3)).hasValue(node);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/d/_SUCCESS", "/part-00001/x", "/d/partition-1", "/d/part-", "/d/part-1x/data"})
  void othersAreLeftToHdfs(String path) {
    assertThat(PartFilePlacementPolicy.nodeIndex(path, 3)).isEqualTo(OptionalInt.empty());
  }

  @ParameterizedTest
  @ValueSource(ints = {0})
  void noNodesAreNoReasonToFail(int nodes) {
    assertThat(PartFilePlacementPolicy.nodeIndex("/d/part-00001", nodes)).isEmpty();
  }
}
