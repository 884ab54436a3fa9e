package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who decides how a block will be read, and what comes of it on the device. */
class TestBlockHints {
  private static final int MIB = 1 << 20;
  private static final int SEQUENTIAL = 0x0F_0081;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);

  /** Knows {@link #hint} at once, or, while it is null, when the test says so. */
  private static final class FakeSource implements HintSource {
    private final List<Consumer<BlockHint>> waiting = new ArrayList<>();
    private BlockHint hint;
    private Runnable beforeAsk = () -> {};

    @Override
    public BlockHint of(String pool, long blockId) {
      return hint == null ? BlockHint.NONE : hint;
    }

    @Override
    public void ask(BlockKey block, Consumer<BlockHint> then) {
      beforeAsk.run();
      if (hint == null) {
        waiting.add(then);
      } else {
        then.accept(hint);
      }
    }

    @Override
    public void forget(BlockKey block, Consumer<BlockHint> then) {
      waiting.remove(then);
    }

    void answers(BlockHint late) {
      waiting.forEach(then -> then.accept(late));
      waiting.clear();
    }
  }

  @TempDir File file;

  private final FakeDevice device = new FakeDevice();
  private final FakeSource source = new FakeSource();
  private MeldVolume volume = device.volume("account", source);

  private static BlockHint says(ReadPattern pattern) {
    return new BlockHint(pattern, 0, 1, 2, 0);
  }

  private void write(long from, long to) {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    for (long at = from; at < to; at += 64 << 10) {
      writer.write(at, 64 << 10);
    }
    writer.close();
  }

  private void read(long bytes) {
    ReadStream reader = new ReadStream(volume, BLOCK, () -> bytes, true, StreamUser.DATANODE);
    reader.consume(0, 64 << 10);
    reader.close();
  }

  private List<Integer> directives() {
    return device.commands().stream()
        .filter(command -> command.opcode() == Opcode.WRITE)
        .map(FakeDevice.Command::directive)
        .distinct()
        .toList();
  }

  private long counter(String name) {
    return FakeDevice.counters(volume).get(name);
  }

  @Test
  void anExplicitSequentialBlockIsMeldedFromItsFirstByte() {
    source.hint = says(ReadPattern.SEQUENTIAL);
    write(0, 2 * MIB);
    assertThat(directives()).containsExactly(SEQUENTIAL);
    assertThat(counter("hints_explicit")).isEqualTo(1);
    assertThat(counter("hinted_blocks")).isEqualTo(1);
  }

  @Test
  void anExplicitRandomBlockIsNotMeldedHoweverLarge() {
    source.hint = says(ReadPattern.RANDOM);
    write(0, 8 * MIB);
    assertThat(directives()).containsExactly(Directive.NONE);
    assertThat(counter("hints_explicit")).isEqualTo(1);
    assertThat(counter("unhinted_blocks")).isEqualTo(1);
  }

  @Test
  void nobodysWordLeavesItToTheSize() {
    source.hint = says(ReadPattern.AUTO);
    write(0, 8 * MIB);
    assertThat(directives()).containsExactly(SEQUENTIAL);
    assertThat(counter("hints_full_block")).isEqualTo(1);
  }

  @Test
  void aBlockThatIsDeletedIsNotAskedForAnyMore() {
    read(2 * MIB);
    assertThat(source.waiting).hasSize(1);
    volume.deleted(BLOCK);
    assertThat(source.waiting).isEmpty();
  }

  @Test
  void aBlockThatIsDeletedJustBeforeTheQuestionIsNotAskedForAnyMore() {
    source.beforeAsk = () -> volume.deleted(BLOCK);
    read(2 * MIB);
    assertThat(source.waiting).isEmpty();
  }

  @Test
  void aQuestionThatWasGivenUpIsAskedAgainWithTheNextUse() {
    read(2 * MIB);
    source.waiting.clear();
    read(2 * MIB);
    assertThat(source.waiting).hasSize(1);
    source.answers(says(ReadPattern.RANDOM));
    read(2 * MIB);
    assertThat(source.waiting).isEmpty();
  }

  @Test
  void whatIsLaidOutWithoutAnAnswerIsCounted() {
    read(8 * MIB);
    assertThat(counter("hints_none_by_silence")).isEqualTo(1);
    source.answers(says(ReadPattern.RANDOM));
    assertThat(counter("hints_explicit")).isEqualTo(1);
    assertThat(counter("hints_none_by_silence")).isEqualTo(1);
  }

  @Test
  void thatNoNameNodeKnowsTheBlockDecidesNothing() {
    read(8 * MIB);
    source.answers(BlockHint.NONE);
    assertThat(counter("hints_full_block")).isEqualTo(1);
    read(8 * MIB);
    assertThat(source.waiting).as("asked again").hasSize(1);
  }

  @Test
  void aLateDeleteOfAnOlderReplicaLeavesTheNewOne(@TempDir Path replicas) throws IOException {
    source.hint = says(ReadPattern.RANDOM);
    Path present = Files.createFile(replicas.resolve("blk_7"));
    WriteStream writer =
        new WriteStream(volume, BLOCK, present.toFile(), true, StreamUser.DATANODE);
    writer.write(0, 2 * MIB);
    writer.close();
    volume.deleted(BLOCK, replicas.resolve("older").resolve("blk_7").toFile());
    assertThat(counter("blocks_mapped")).isEqualTo(1);
    Path finalized = replicas.resolve("blk_7_finalized");
    Files.move(present, finalized);
    volume.deleted(BLOCK, finalized.toFile());
    assertThat(counter("blocks_mapped")).isZero();
  }

  @Test
  void aHintThatComesLateCountsForWhatIsWrittenFromThenOn() {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, MIB);
    assertThat(device.commands()).as("deferred while nobody knows").isEmpty();
    source.answers(says(ReadPattern.RANDOM));
    writer.write(MIB, 7 * MIB);
    writer.close();
    assertThat(directives()).containsExactly(Directive.NONE);
  }

  @Test
  void aBlockFoundOnDiskIsLaidOutAnewWhenItsHintComes() {
    read(8 * MIB);
    assertThat(device.preloads())
        .containsExactly(new FakeDevice.Command(-1, 0, 8 * MIB, SEQUENTIAL, true));
    source.answers(says(ReadPattern.RANDOM));
    assertThat(device.preloads().get(1))
        .isEqualTo(new FakeDevice.Command(-1, 0, 8 * MIB, Directive.NONE, true));
    assertThat(counter("hints_full_block")).isEqualTo(1);
    assertThat(counter("hints_explicit")).isEqualTo(1);
  }

  @Test
  void aHintThatChangesNothingMovesNothing() {
    read(8 * MIB);
    source.answers(says(ReadPattern.SEQUENTIAL));
    assertThat(device.preloads()).hasSize(1);
  }

  @Test
  void whatWasWrittenSinceIsLeftWhereItIs() {
    write(8 * MIB, 12 * MIB);
    assertThat(device.preloads()).hasSize(1);
    source.answers(says(ReadPattern.RANDOM));
    assertThat(device.preloads().get(1).length()).isEqualTo(8 * MIB);
    write(0, 8 * MIB);
    assertThat(device.preloads()).hasSize(2);
  }
}
