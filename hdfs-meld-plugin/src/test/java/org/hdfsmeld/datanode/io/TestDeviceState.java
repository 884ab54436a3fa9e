package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.logging.log4j.Level;
import org.hdfsmeld.LogEvents;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A volume's device before and after a restart. */
class TestDeviceState {
  private static final int MIB = 1 << 20;

  /** A block of 128 MiB, up to whole wordlines. */
  private static final long SLOT =
      ((128L << 20) + FakeDevice.WORDLINE - 1) / FakeDevice.WORDLINE * FakeDevice.WORDLINE;

  private static final String POOL = "BP-1";
  private static final String STORAGE = "DS-1";

  @TempDir Path dir;

  private final List<FakeDevice> devices = new ArrayList<>();
  private final Configuration conf = new Configuration();
  private TestHints hints = new TestHints(BlockHint.NONE);
  private Runnable opening = () -> {};
  private MeldVolumes volumes;
  private MeldVolume volume;

  /** Answers at once, or never while it knows nothing. */
  private static final class TestHints implements HintSource {
    final List<BlockKey> asked = new ArrayList<>();
    private final BlockHint hint;

    TestHints(BlockHint hint) {
      this.hint = hint;
    }

    @Override
    public BlockHint of(String pool, long blockId) {
      return hint;
    }

    @Override
    public void ask(BlockKey block, Consumer<BlockHint> then) {
      asked.add(block);
      if (hint.isKnown()) {
        then.accept(hint);
      }
    }
  }

  private final SimDeviceOpener opener =
      new SimDeviceOpener() {
        @Override
        public SimDevice open() {
          opening.run();
          devices.add(new FakeDevice());
          return device();
        }

        @Override
        public SimDevice restore(ByteBuffer snapshot) {
          assertThat(snapshot).isEqualTo(ByteBuffer.wrap(new byte[] {42}));
          return open();
        }
      };

  @BeforeEach
  void begin() throws IOException {
    start(STORAGE);
  }

  @AfterEach
  void end() {
    volumes.close();
  }

  private void start(String storageId) throws IOException {
    File current = dir.resolve("current").toFile();
    volumes = FakeDevice.volumes(MeldConfiguration.read(conf), profile -> opener, hints);
    volumes.add(storageId, current);
    volume = volumes.holding(new File(current, POOL + "/blk_1"));
    device().drain = () -> FakeDevice.settle(volume);
  }

  /** As by kill -9: the files are as they are, and nothing more is written. */
  private void crash(Runnable afterwards) throws IOException {
    Path kept = dir.resolveSibling(dir.getFileName() + "-kept");
    copy(state(), kept);
    volumes.close();
    clear();
    copy(kept, state());
    afterwards.run();
    start(STORAGE);
  }

  private void restartAfresh() throws IOException {
    volumes.close();
    clear();
    start(STORAGE);
  }

  private void clear() throws IOException {
    try (Stream<Path> files = Files.list(state())) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private Path state() {
    return dir.resolve("meld");
  }

  private FakeDevice device() {
    return devices.get(devices.size() - 1);
  }

  private void restart() throws IOException {
    volumes.close();
    start(STORAGE);
  }

  private void write(long block, int bytes) {
    WriteStream writer =
        new WriteStream(volume, new BlockKey(POOL, block), dir.toFile(), true, StreamUser.DATANODE);
    for (int at = 0; at < bytes; at += MIB) {
      writer.write(at, Math.min(MIB, bytes - at));
    }
    writer.close();
  }

  private void read(long block, long bytes) {
    ReadStream reader =
        new ReadStream(volume, new BlockKey(POOL, block), () -> bytes, true, StreamUser.DATANODE);
    reader.consume(0, MIB);
    reader.close();
  }

  private long counter(String name) {
    return FakeDevice.counters(volume).get(name);
  }

  private void reconcile(LongUnaryOperator lengths) {
    volumes.reconcile(STORAGE, POOL, lengths);
  }

  private void awaitJournal(long records) {
    await().untilAsserted(() -> assertThat(counter("state_journal_records")).isEqualTo(records));
  }

  private void awaitFirstSnapshot() {
    await().untilAsserted(() -> assertThat(counter("state_snapshots")).isPositive());
  }

  @Test
  void blocksAreWhereTheyWereAfterARestart() throws IOException {
    write(1, 4 * MIB);
    write(2, 8 * MIB);
    restart();
    assertThat(counter("blocks_mapped")).isEqualTo(2);
    assertThat(counter("state_restored_blocks")).isEqualTo(2);
    reconcile(block -> block * 4 * MIB);
    read(2, 8 * MIB);
    assertThat(device().preloads()).as("nothing had to be laid out anew").isEmpty();
    assertThat(device().commands())
        .filteredOn(c -> c.opcode() == Opcode.READ)
        .first()
        .satisfies(c -> assertThat(c.offset()).as("the second slot").isEqualTo(SLOT));
    write(3, MIB);
    assertThat(device().commands())
        .filteredOn(c -> c.opcode() == Opcode.WRITE)
        .allSatisfy(c -> assertThat(c.offset()).as("a slot of its own").isEqualTo(2 * SLOT));
  }

  @Test
  void blocksWithoutAReplicaAreDeallocatedAndOthersCompleted() throws IOException {
    write(1, 4 * MIB);
    write(2, 4 * MIB);
    write(3, 4 * MIB);
    restart();
    device().clear();
    reconcile(block -> block == 1 ? -1 : block == 2 ? 2 * MIB : 6 * MIB);
    assertThat(counter("blocks_mapped")).isEqualTo(2);
    assertThat(device().commands())
        .extracting(FakeDevice.Command::offset)
        .as("the block that is gone, and the end of the one that was cut")
        .containsExactlyInAnyOrder(0L, SLOT + 2 * MIB);
    assertThat(device().preloads())
        .singleElement()
        .satisfies(
            c -> {
              assertThat(c.offset()).isEqualTo(2 * SLOT + 4 * MIB);
              assertThat(c.length()).isEqualTo(2 * MIB);
            });
  }

  @Test
  void afterAKillTheJournalSaysWhatIsNewer() throws IOException {
    awaitFirstSnapshot();
    write(1, 4 * MIB);
    write(2, 4 * MIB);
    awaitJournal(2);
    volume.deleted(new BlockKey(POOL, 2));
    awaitJournal(3);
    crash(() -> {});
    assertThat(counter("state_relaid_blocks")).isEqualTo(1);
    assertThat(counter("blocks_mapped")).as("before it is laid out").isZero();
    assertThat(device().commands()).as("what nobody owns").isNotEmpty();
    reconcile(block -> 4 * MIB);
    assertThat(counter("blocks_mapped")).isEqualTo(1);
    assertThat(device().preloads())
        .extracting(FakeDevice.Command::length)
        .containsExactly(4L * MIB);
  }

  /** As of a block that is open when the DataNode is ended, and of a writer that gave up. */
  @Test
  void whatTheDeviceHasNotAcknowledgedIsLaidOutAnew() throws IOException {
    conf.set(MeldKeys.MODE, "real-time");
    restart();
    write(1, 4 * MIB);
    device().stuck = true;
    Thread.currentThread().interrupt();
    write(2, 4 * MIB);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(volume.blocks().find(new BlockKey(POOL, 2)).mappedBytes()).isEqualTo(4 * MIB);
    restart();
    assertThat(counter("state_restored_blocks")).isEqualTo(1);
    assertThat(counter("state_relaid_blocks")).isEqualTo(1);
    device().clear();
    reconcile(block -> 4 * MIB);
    assertThat(device().preloads())
        .singleElement()
        .satisfies(c -> assertThat(c.offset()).as("its slot is its own").isEqualTo(SLOT))
        .satisfies(c -> assertThat(c.length()).isEqualTo(4L * MIB));
  }

  @Test
  void aTornJournalIsUsedUpToItsEnd() throws IOException {
    awaitFirstSnapshot();
    write(1, MIB);
    awaitJournal(1);
    write(2, MIB);
    awaitJournal(2);
    crash(
        () -> {
          try (var files = Files.newDirectoryStream(state(), "journal-*")) {
            for (Path file : files) {
              byte[] bytes = Files.readAllBytes(file);
              Files.write(file, java.util.Arrays.copyOf(bytes, Math.max(0, bytes.length - 3)));
            }
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    assertThat(counter("state_torn_journals")).isEqualTo(1);
    assertThat(counter("state_relaid_blocks")).as("block 1").isEqualTo(1);
  }

  @Test
  void damagedSnapshotsAreRebuiltFromTheReplicas() throws IOException {
    write(1, 4 * MIB);
    volumes.close();
    try (var files = Files.newDirectoryStream(state(), "snapshot-*")) {
      for (Path file : files) {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
      }
    }
    start(STORAGE);
    assertThat(counter("state_rejected")).isPositive();
    assertThat(counter("blocks_mapped")).isZero();
    assertThat(volume.isHealthy()).isTrue();
    read(1, 4 * MIB);
    assertThat(device().preloads()).as("as without a state").isNotEmpty();
  }

  @Test
  void anotherVolumesStateIsNotUsed() throws IOException {
    write(1, 4 * MIB);
    volumes.close();
    start("DS-2");
    assertThat(counter("state_rejected")).isPositive();
    assertThat(counter("blocks_mapped")).isZero();
  }

  @Test
  void aDiskWithoutRoomCostsTheStateOnly() throws IOException {
    volumes.close();
    clear();
    Files.delete(state());
    Files.createFile(state());
    start(STORAGE);
    write(1, 4 * MIB);
    await().untilAsserted(() -> assertThat(counter("state_errors")).isPositive());
    read(1, 4 * MIB);
    assertThat(volume.isHealthy()).isTrue();
    assertThat(counter("errors")).isZero();
  }

  /** A start has other things to do than to write what is there already. */
  @Test
  void aRestoredStateIsWrittenAnewWhenABlockHasChanged() throws IOException {
    write(1, 4 * MIB);
    restart();
    reconcile(block -> 4 * MIB);
    restart();
    assertThat(counter("state_snapshots")).isZero();
    assertThat(counter("state_restored_blocks")).isEqualTo(1);
    reconcile(block -> MIB);
    awaitFirstSnapshot();
    crash(() -> {});
    assertThat(volume.blocks().find(new BlockKey(POOL, 1)).mappedBytes()).isEqualTo(MIB);
  }

  private void mkfifo(Path pipe) throws Exception {
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
  }

  @Test
  @Timeout(60)
  void whatIsNoRegularFileHoldsNoStartAndIsALineOfTheLog() throws Exception {
    write(1, 4 * MIB);
    volumes.close();
    Path history = dir.resolve("meld-read-history");
    Files.deleteIfExists(history);
    mkfifo(history);
    mkfifo(state().resolve("journal-80"));
    mkfifo(state().resolve("snapshot-81"));
    mkfifo(state().resolve("snapshot-90.tmp"));
    Files.createDirectories(state().resolve("snapshot-82").resolve("full"));
    Files.createSymbolicLink(state().resolve("snapshot-83"), Path.of("/no/such/file"));
    Files.createSymbolicLink(state().resolve("snapshot-84"), Path.of("/dev/zero"));
    try (LogEvents log = new LogEvents(SimFailures.class)) {
      start(STORAGE);
      assertThat(counter("state_rejected")).isEqualTo(5);
      assertThat(log.list())
          .hasSize(5)
          .allSatisfy(
              event -> {
                assertThat(event.getLevel()).isEqualTo(Level.WARN);
                assertThat(event.getThrown()).isNull();
                assertThat(event.getMessage().getFormattedMessage())
                    .contains("is no regular file", "Nothing needs to be done");
              });
    }
    assertThat(counter("history_resets")).isEqualTo(1);
    assertThat(counter("blocks_mapped")).as("of the snapshot before").isEqualTo(1);
    // Its journal is there then; what changed before is in the snapshot alone.
    await().untilAsserted(() -> assertThat(counter("state_snapshots")).isPositive());
    write(2, MIB);
    await().untilAsserted(() -> assertThat(counter("state_journal_records")).isPositive());
    volumes.close();
    assertThat(counter("state_errors")).isZero();
    start(STORAGE);
    assertThat(counter("blocks_mapped")).isEqualTo(2);
  }

  @Test
  void aDeviceSaysThePastThatItHasAndKeepsIt() throws IOException {
    write(1, MIB);
    conf.set(MeldKeys.PRECONDITION, "fill=80,random=90");
    restart();
    assertThat(counter("precondition_fill_percent")).as("of a device that began fresh").isZero();
    restartAfresh();
    assertThat(counter("precondition_fill_percent")).isEqualTo(80);
    write(1, MIB);
    for (String later : List.of("none", "fill=10")) {
      conf.set(MeldKeys.PRECONDITION, later);
      restart();
      assertThat(counter("precondition_fill_percent")).isEqualTo(80);
      assertThat(counter("precondition_random_percent")).isEqualTo(90);
      assertThat(device().commands())
          .as("nothing of the past is deallocated")
          .noneMatch(command -> command.opcode() == Opcode.DEALLOCATE);
      assertThat(volumes.report().volumes().get(0).profile())
          .endsWith(", precondition fill=80,random=90");
    }
  }

  /** Where the block's files are and who asked for it stays known. */
  @Test
  void whoseABlockIsSurvivesARestartAndAKill() throws IOException {
    BlockHint known = new BlockHint(ReadPattern.RANDOM, 0, 16_390, 16_389, 1);
    hints = new TestHints(known);
    restartAfresh();
    awaitFirstSnapshot();
    write(1, MIB);
    awaitJournal(1);
    hints = new TestHints(BlockHint.NONE);
    crash(() -> {});
    assertThat(hint(1))
        .extracting(BlockHint::kind, BlockHint::parentKind)
        .containsExactly(16_390L, 16_389L);
    reconcile(block -> MIB);
    restart();
    assertThat(hint(1))
        .extracting(BlockHint::kind, BlockHint::parentKind)
        .containsExactly(16_390L, 16_389L);
    read(1, MIB);
    assertThat(hints.asked).isEmpty();
  }

  @Test
  void aBlockOfWhichNobodyAnsweredIsAskedForAgainWhenItIsUsed() throws IOException {
    hints = new TestHints(BlockHint.NONE);
    restart();
    write(1, MIB);
    assertThat(hints.asked).containsExactly(new BlockKey(POOL, 1));
    hints = new TestHints(new BlockHint(ReadPattern.RANDOM, 0, 16_390, 16_389, 1));
    restart();
    assertThat(hint(1).isKnown()).isFalse();
    read(1, MIB);
    assertThat(hint(1).parentKind()).isEqualTo(16_389);
    read(1, MIB);
    assertThat(hints.asked).as("once").containsExactly(new BlockKey(POOL, 1));
  }

  private BlockHint hint(long block) {
    return volume.blocks().find(new BlockKey(POOL, block)).hint();
  }

  /** Its device is measured for the history by a thread that the state need not wait for. */
  @Test
  void aHistoryThatHangsKeepsNoStateFromBeingWritten() throws Exception {
    hints = new TestHints(new BlockHint(ReadPattern.RANDOM, 0, 16_390, 16_389, 1));
    restartAfresh();
    awaitFirstSnapshot();
    CountDownLatch hang = new CountDownLatch(1);
    CountDownLatch entered = new CountDownLatch(1);
    opening =
        () -> {
          entered.countDown();
          FakeDevice.hang(hang).run();
        };
    try {
      write(1, MIB);
      BlockExtent extent = volume.blocks().find(new BlockKey(POOL, 1));
      volume.readRun(extent, MIB, 16, MIB);
      entered.await();
      long before = counter("state_journal_records");
      write(2, MIB);
      await()
          .untilAsserted(() -> assertThat(counter("state_journal_records")).isGreaterThan(before));
    } finally {
      hang.countDown();
    }
  }

  @Test
  void whenItIsOffNothingIsWritten() throws IOException {
    volumes.close();
    conf.set(MeldKeys.STATE_ENABLED, "false");
    Path other = Files.createDirectory(dir.resolve("other"));
    volumes = FakeDevice.volumes(MeldConfiguration.read(conf), opener);
    volumes.add("DS-3", other.resolve("current").toFile());
    volumes.close();
    assertThat(other).isEmptyDirectory();
  }
}
