package org.hdfsmeld.spark.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.junit.jupiter.api.Test;

/** Read calls become reads of blocks as the file's format says. */
class TestStreamReads {
  private static final long SECOND = 1_000_000_000;

  private final ReadLog log = new ReadLog(() -> {});
  private int asked;
  private final BlockMap blocks = new BlockMap(this::locate);
  private final StreamReads stream = new StreamReads(log, "/file", blocks);

  /** Blocks 11, 12 and 13 of 100, 100 and 50 bytes. */
  private List<LocatedBlock> locate() {
    asked++;
    return List.of(block(11, 0, 100), block(12, 100, 100), block(13, 200, 50));
  }

  private static LocatedBlock block(long id, long start, long bytes) {
    LocatedBlock block =
        new LocatedBlock(new ExtendedBlock("BP-1", id, bytes, 1), new DatanodeInfo[0]);
    block.setStartOffset(start);
    return block;
  }

  @Test
  void consecutiveCallsOfOneBlockAreOneRead() {
    stream.enter();
    stream.add(7, 10, 20, 1000, 1100);
    stream.add(7, 30, 20, 1500, 1700);
    stream.close();
    assertThat(taken())
        .containsExactly(
            new BlockRead(
                7, "/file", "BP-1", 11, 10, 40, EpochClock.at(1000), EpochClock.at(1700), 300));
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void anotherBlockPlaceOrTaskIsAnotherRead() {
    stream.enter();
    stream.add(7, 80, 20, 1, 2);
    stream.add(7, 100, 10, 3, 4); // the next block
    stream.add(7, 120, 10, 5, 6); // further on
    stream.add(7, 110, 10, 7, 8); // back
    stream.add(8, 120, 10, 9, 10); // another task
    stream.close();
    assertThat(taken())
        .extracting(BlockRead::task, BlockRead::block, BlockRead::offset, BlockRead::bytes)
        .containsExactly(
            tuple(7L, 11L, 80L, 20L),
            tuple(7L, 12L, 0L, 10L),
            tuple(7L, 12L, 20L, 10L),
            tuple(7L, 12L, 10L, 10L),
            tuple(8L, 12L, 20L, 10L));
  }

  @Test
  void oneCallOverBlocksIsAReadOfEach() {
    stream.enter();
    stream.add(7, 50, 200, 1000, 2000);
    stream.close();
    assertThat(taken())
        .extracting(BlockRead::block, BlockRead::offset, BlockRead::bytes, BlockRead::waitedNs)
        .containsExactly(
            tuple(11L, 50L, 50L, 250L), tuple(12L, 0L, 100L, 500L), tuple(13L, 0L, 50L, 250L));
  }

  @Test
  void longReadsAreCut() {
    stream.enter();
    stream.add(7, 0, 10, 0, 1);
    stream.add(7, 10, 10, 9 * SECOND, 10 * SECOND);
    stream.add(7, 20, 10, 11 * SECOND, 12 * SECOND);
    assertThat(taken()).extracting(BlockRead::bytes).containsExactly(20L);
    log.closeOld(20 * SECOND);
    assertThat(taken()).isEmpty();
    log.closeOld(21 * SECOND);
    assertThat(taken()).extracting(BlockRead::bytes).containsExactly(10L);
  }

  @Test
  void theEndOfItsTaskEndsARead() {
    stream.enter();
    stream.add(7, 0, 10, 1, 2);
    log.taskEnded(6);
    assertThat(log.take(10, 0)).isEqualTo(new ReadLog.Taken(List.of(), 0, 1));
    log.taskEnded(7);
    assertThat(log.take(10, 1).reads()).extracting(BlockRead::bytes).containsExactly(10L);
    stream.add(7, 10, 10, 3, 4); // a thread that outlives its task
    stream.close();
    assertThat(taken()).extracting(BlockRead::offset).containsExactly(10L);
  }

  @Test
  void whatHasNoBlockIsDropped() {
    stream.enter();
    stream.add(7, 240, 20, 1, 2);
    stream.close();
    ReadLog.Taken taken = log.take(10, 0);
    assertThat(taken.reads()).extracting(BlockRead::bytes).containsExactly(10L);
    assertThat(taken.dropped()).isEqualTo(1);
  }

  @Test
  void blocksThatCannotBeHadFailNoRead() {
    BlockMap none =
        new BlockMap(
            () -> {
              asked++;
              throw new IOException("no NameNode");
            });
    StreamReads blind = new StreamReads(log, "/file", none);
    for (int i = 0; i < 3; i++) {
      blind.enter();
      blind.add(0, 10, 1, 2);
    }
    blind.close();
    assertThat(log.take(10, 0)).isEqualTo(new ReadLog.Taken(List.of(), 3, 0));
    assertThat(asked).isEqualTo(1);
  }

  private List<BlockRead> taken() {
    return log.take(100, 0).reads();
  }
}
