package org.hdfsmeld.datanode.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.SimDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of a device's state: what goes in comes out, and damage is told from it. */
class TestStateFiles {
  private static final long MAX_BYTES = 1 << 20;

  @TempDir Path dir;

  private static BlockRecord block(long id, long... slots) {
    HintDecision decision =
        new HintDecision(ReadPattern.RANDOM, HintDecision.Source.EXPLICIT, "set on /a");
    BlockHint hint =
        new BlockHint(ReadPattern.UNKNOWN, 0, 90 + id, 60 + id, BlockHint.NOBODY, 80 + id, 50 + id);
    BlockKey key = new BlockKey("BP-1", id);
    return new BlockRecord(1, key, 5 * id, 7 * id, slots, decision, hint, 40 + id);
  }

  private static StateSnapshot snapshot() {
    return new StateSnapshot(
        "ssd0",
        "name = \"x\"",
        128 << 20,
        "fill=80,random=100",
        List.of(new StateSnapshot.Namespace(1, 3, "DS-1")),
        List.of(block(1, 0), block(2, 5, 9)),
        ByteBuffer.allocateDirect(3).put(0, new byte[] {1, 2, 3}));
  }

  private static void assertSame(BlockRecord actual, BlockRecord expected) {
    assertThat(actual).usingRecursiveComparison().isEqualTo(expected);
  }

  @Test
  void aSnapshotComesBack() throws IOException {
    Path file = StateFiles.snapshot(dir, 1);
    snapshot().write(file, MAX_BYTES);
    assertThat(StateSnapshot.read(file, MAX_BYTES))
        .usingRecursiveComparison()
        .isEqualTo(snapshot());
    assertThat(dir).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void everyDamageToASnapshotIsSeen() throws IOException {
    Path file = StateFiles.snapshot(dir, 1);
    snapshot().write(file, MAX_BYTES);
    byte[] good = Files.readAllBytes(file);
    for (int at = 0; at < good.length; at++) {
      byte[] bad = good.clone();
      bad[at] ^= 0x10;
      Files.write(file, bad);
      assertThatThrownBy(() -> StateSnapshot.read(file, MAX_BYTES))
          .as("byte %d", at)
          .isInstanceOf(IOException.class);
      Files.write(file, Arrays.copyOf(good, at));
      assertThatThrownBy(() -> StateSnapshot.read(file, MAX_BYTES))
          .as("cut to %d", at)
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aSnapshotThatIsTooLargeIsNotLeftBehind() {
    Path file = StateFiles.snapshot(dir, 1);
    assertThatThrownBy(() -> snapshot().write(file, 100))
        .hasMessageContaining(MeldKeys.STATE_SNAPSHOT_MAX_BYTES);
    assertThat(dir).isEmptyDirectory();
  }

  @Test
  void aJournalComesBackUpToItsFirstDamage() throws IOException {
    Path file = StateFiles.journal(dir, 1);
    List<BlockRecord> written = List.of(block(1, 0), block(2, 5, 9), block(1));
    try (StateJournal journal = new StateJournal(file)) {
      long bytes = journal.append(written.subList(0, 1));
      bytes += journal.append(written.subList(1, 3));
      assertThat(bytes).isEqualTo(Files.size(file));
    }
    List<BlockRecord> read = new ArrayList<>();
    assertThat(StateJournal.replay(file, read::add)).isTrue();
    assertThat(read).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertSame(read.get(i), written.get(i));
    }
    byte[] good = Files.readAllBytes(file);
    for (int at = 0; at < good.length; at++) {
      byte[] bad = good.clone();
      bad[at] ^= 0x10;
      replayDamaged(file, bad, written, false);
      replayDamaged(file, Arrays.copyOf(good, at), written, null);
    }
  }

  private static void replayDamaged(
      Path file, byte[] bytes, List<BlockRecord> written, Boolean whole) throws IOException {
    Files.write(file, bytes);
    List<BlockRecord> read = new ArrayList<>();
    boolean said = false;
    try {
      said = StateJournal.replay(file, read::add);
    } catch (IOException e) {
      assertThat(e).as("a damaged version").hasMessageContaining("reads versions 5 and 1");
    }
    if (whole != null) {
      assertThat(said).isEqualTo(whole);
    }
    assertThat(read.size()).isLessThan(written.size());
    for (int i = 0; i < read.size(); i++) {
      assertSame(read.get(i), written.get(i));
    }
  }

  @Test
  void everyCodeOfAJournalOfVersion1IsRead() throws IOException {
    Path file = Path.of("src/test/resources/state/written-by-0.1.0/every-code");
    List<HintDecision> read = new ArrayList<>();
    assertThat(StateJournal.replay(file, block -> read.add(block.decision()))).isTrue();
    List<HintDecision> expected = new ArrayList<>();
    for (String pattern : List.of("SEQUENTIAL", "RANDOM", "NONE", "AUTO", "UNKNOWN")) {
      for (String source : List.of("EXPLICIT", "HISTORY", "FULL_BLOCK", "NONE")) {
        expected.add(
            new HintDecision(
                ReadPattern.valueOf(pattern),
                HintDecision.Source.valueOf(source),
                pattern + " " + source));
      }
    }
    assertThat(read).isEqualTo(expected);
  }

  /** Versions 2 to 4 are of no release. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void aJournalOfNoReleaseIsRefused(int version) throws IOException {
    Path file = StateFiles.journal(dir, 1);
    ByteBuffer journal = ByteBuffer.allocate(12);
    journal.put("MELDJRNL".getBytes(StandardCharsets.US_ASCII)).putInt(version);
    Files.write(file, journal.array());
    assertThatThrownBy(() -> StateJournal.replay(file, block -> {}))
        .hasMessageContaining("its format has version " + version);
  }

  /** What the plugin before did with the files of this one: their versions are where they were. */
  @Test
  void aPluginThatReadsOlderVersionsRefusesTheseInWords() throws IOException {
    Path journal = StateFiles.journal(dir, 1);
    try (StateJournal writer = new StateJournal(journal)) {
      writer.append(List.of(block(1, 0)));
    }
    Path snapshot = StateFiles.snapshot(dir, 1);
    snapshot().write(snapshot, MAX_BYTES);
    for (Map.Entry<Path, Integer> file : Map.of(journal, 4, snapshot, 3).entrySet()) {
      int found = ByteBuffer.wrap(Files.readAllBytes(file.getKey())).getInt(8);
      assertThatThrownBy(() -> VersionedFile.checkVersion(found, file.getValue()))
          .hasMessageContaining("its format has version " + (file.getValue() + 1))
          .hasMessageContaining("go back to the plugin that wrote it");
    }
  }

  /** It goes on with the snapshot, as after any journal that ends early. */
  @Test
  void aReaderOfVersion1TakesAJournalForATornOne() throws IOException {
    Path file = StateFiles.journal(dir, 1);
    try (StateJournal journal = new StateJournal(file)) {
      assertThat(file).isEmptyFile();
      journal.append(List.of(block(1, 0)));
    }
    int firstLength = ByteBuffer.wrap(Files.readAllBytes(file)).getInt();
    assertThat(firstLength).as("no record is so long").isGreaterThan(2 << 20);
  }

  @Test
  void theDevicesPartIsNeverOnTheHeap() throws IOException {
    int size = 48 << 20;
    SimDevice device =
        new FakeDevice() {
          @Override
          public long snapshot(ByteBuffer out) {
            for (int at = 0; out.capacity() >= size && at < size; at += Long.BYTES) {
              out.putLong(at, at);
            }
            return size;
          }
        };
    Path file = StateFiles.snapshot(dir, 1);
    ImageBuffer buffer = new ImageBuffer(size);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    ByteBuffer image = buffer.take(device);
    new StateSnapshot("", "", 1, "", List.of(), List.of(), image).write(file, size + 1000);
    StateSnapshot read = StateSnapshot.read(file, size + 1000);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(read.image().equals(image)).isTrue();
    assertThat(image.getLong(size - 8)).isEqualTo(size - 8);
    assertThat(buffer.take(device)).as("the same memory").isEqualTo(image);
    assertThat(allocated).isBetween(1L, 4L << 20);
    assertThatThrownBy(() -> new ImageBuffer(size - 1).take(device))
        .hasMessageContaining(MeldKeys.STATE_SNAPSHOT_MAX_BYTES);
  }

  @Test
  void filesGoByNumberNotByTime() throws IOException {
    for (String name : List.of("snapshot-9", "snapshot-10", "journal-10", "journal-x", "other")) {
      Files.createFile(dir.resolve(name));
    }
    Files.setLastModifiedTime(
        dir.resolve("snapshot-9"), java.nio.file.attribute.FileTime.fromMillis(4_000_000_000_000L));
    StateFiles files = StateFiles.find(List.of(dir, dir.resolve("absent")));
    assertThat(files.snapshots().lastEntry().getValue()).hasFileName("snapshot-10");
    assertThat(files.last()).isEqualTo(10);
    files.deleteBefore(10);
    assertThat(dir.resolve("snapshot-9")).doesNotExist();
    assertThat(dir.resolve("journal-10")).exists();
  }
}
