package org.hdfsmeld.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPInputStream;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.StandardMBean;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hashing;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.record.RecordFiles;
import org.hdfsmeld.record.RecordKind;
import org.hdfsmeld.record.RecordRing;
import org.hdfsmeld.record.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a trace leaves in its folder. */
class TestBlockTrace {
  private static final String COLUMNS =
      "time_ns,volume,block,offset,length,op,pattern,client,directory";

  @TempDir Path dir;

  private TraceConfiguration config(boolean inodes) {
    return new TraceConfiguration(dir.toString(), 2, 1 << 20, 1024, inodes);
  }

  private BlockTrace trace(int maxFiles, long fileBytes, int ringRecords) {
    return new BlockTrace(
        new TraceConfiguration(dir.toString(), maxFiles, fileBytes, ringRecords, false), "dn");
  }

  private static byte[] bytes(BlockTrace trace, String file) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] part = trace.files().read(file, 0, 100);
    while (part.length > 0) {
      all.write(part);
      part = trace.files().read(file, all.size(), 100);
    }
    return all.toByteArray();
  }

  /** The lines of every file, as they would be read when joined. */
  private static List<String> lines(BlockTrace trace) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String file : trace.files().list()) {
      try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes(trace, file)))) {
        lines.addAll(new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList());
      }
    }
    return lines;
  }

  private static List<String[]> records(BlockTrace trace) throws IOException {
    return lines(trace).stream()
        .filter(line -> !line.startsWith("#") && !line.equals(COLUMNS))
        .map(line -> line.split(","))
        .toList();
  }

  private static BlockKey block(long id) {
    return new BlockKey("BP-1", id);
  }

  @Test
  void aClockThatWasSetBackMakesNoTraceTheOldest() throws IOException {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2030-01-01T00:00:00Z"));
    BlockTrace trace = new BlockTrace(config(false), "dn", now::get);
    List<String> begun = new ArrayList<>();
    for (String time :
        List.of("2030-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "1999-12-31T23:59:59Z")) {
      now.set(Instant.parse(time));
      trace.start();
      begun.add(trace.files().list().get(trace.files().list().size() - 1));
      trace.stop();
    }
    assertThat(begun).isSorted().doesNotHaveDuplicates();
    assertThat(trace.files().list()).isEqualTo(begun.subList(1, 3));
  }

  @Test
  void aRecordHasEverythingTheDeviceWasAsked() throws IOException {
    try (BlockTrace trace = trace(4, 1 << 20, 1024)) {
      BlockTrace.VolumeTrace first = trace.volume("DS-1", () -> "mode account, time dilation 1.0");
      BlockTrace.VolumeTrace second = trace.volume("DS-2", () -> "mode off, time dilation 1.0");
      first.record(TraceOp.READ, block(1), 0, 0, 1, ReadPattern.NONE, ClientKind.CLIENT);
      assertThat(first.isRecording()).isFalse();
      trace.start();
      assertThat(trace.isRecording()).isTrue();
      first.record(
          TraceOp.WRITE,
          block(1073741825),
          16386,
          65536,
          1 << 20,
          ReadPattern.SEQUENTIAL,
          ClientKind.REPLICATION);
      first.record(
          TraceOp.READ,
          block(1073741825),
          16386,
          5L << 32,
          1 << 30,
          ReadPattern.RANDOM,
          ClientKind.SCANNER);
      second.record(
          TraceOp.TRUNCATE, block(-5), 0, 12345, 0, ReadPattern.NONE, ClientKind.DATANODE);
      trace.stop();
      assertThat(trace.isRecording()).isFalse();

      List<String> lines = lines(trace);
      assertThat(lines.get(0)).isEqualTo("# meld-trace 3");
      assertThat(lines).anyMatch(line -> line.endsWith(": mode account, time dilation 1.0"));
      List<String[]> records = records(trace);
      assertThat(records).hasSize(3);
      assertThat(trace.getRecords()).isEqualTo(3);
      assertThat(List.of(records.get(0)).subList(3, 8))
          .containsExactly("65536", "1048576", "write", "sequential", "replication");
      assertThat(List.of(records.get(1)).subList(3, 8))
          .containsExactly("21474836480", "1073741824", "read", "random", "scanner");
      assertThat(List.of(records.get(2)).subList(3, 8))
          .containsExactly("12345", "0", "truncate", "none", "datanode");
      assertThat(records.get(0)[1]).isEqualTo(records.get(1)[1]).isNotEqualTo(records.get(2)[1]);
      assertThat(records.get(0)[2]).isEqualTo(records.get(1)[2]).isNotEqualTo("1073741825");
      assertThat(records.get(0)[8])
          .isEqualTo(records.get(1)[8])
          .isNotEqualTo("16386")
          .isNotEqualTo("0");
      assertThat(records.get(2)[8]).as("it is not known").isEqualTo("0");
      assertThat(Long.parseLong(records.get(0)[0]))
          .isBetween(0L, Long.parseLong(records.get(2)[0]));
      assertThat(String.join("\n", lines)).doesNotContain("DS-1").doesNotContain("1073741825");
    }
  }

  @Test
  void aVolumeThatHasLeftIsNotInTheHeaderAndKeepsItsNumber() throws IOException {
    try (BlockTrace trace = trace(4, 1 << 20, 1024)) {
      BlockTrace.VolumeTrace first = trace.volume("DS-1", () -> "mode account, time dilation 1.0");
      trace.volume("DS-2", () -> "mode off, time dilation 1.0");
      first.left();
      trace.start();
      trace.stop();
      assertThat(lines(trace))
          .noneMatch(line -> line.endsWith(": mode account, time dilation 1.0"));
      assertThat(lines(trace)).anyMatch(line -> line.endsWith(": mode off, time dilation 1.0"));
      BlockTrace.VolumeTrace back = trace.volume("DS-1", () -> "mode real-time, time dilation 1.0");
      BlockTrace.VolumeTrace second = trace.volume("DS-2", () -> "mode off, time dilation 1.0");
      trace.start();
      back.record(TraceOp.READ, block(42), 16386, 0, 4096, ReadPattern.NONE, ClientKind.CLIENT);
      second.record(TraceOp.READ, block(42), 16386, 0, 4096, ReadPattern.NONE, ClientKind.CLIENT);
      trace.stop();
      List<String[]> records = records(trace);
      assertThat(records).hasSize(2);
      assertThat(records.get(0)[1]).isNotEqualTo(records.get(1)[1]);
    }
  }

  @Test
  void blocksCannotBeLinkedAcrossTraces() throws IOException {
    try (BlockTrace trace = trace(4, 1 << 20, 1024)) {
      BlockTrace.VolumeTrace volume = trace.volume("DS-1", () -> "");
      for (int i = 0; i < 2; i++) {
        trace.start();
        volume.record(TraceOp.READ, block(42), 16386, 0, 4096, ReadPattern.NONE, ClientKind.CLIENT);
        trace.stop();
      }
      List<String[]> records = records(trace);
      assertThat(records).hasSize(2);
      assertThat(records.get(0)[1]).isNotEqualTo(records.get(1)[1]);
      assertThat(records.get(0)[2]).isNotEqualTo(records.get(1)[2]);
      assertThat(records.get(0)[8]).isNotEqualTo(records.get(1)[8]);
    }
  }

  @Test
  void directoriesAreNamedByTheirInodesWhereThatIsWanted() throws IOException {
    try (BlockTrace trace = new BlockTrace(config(true), "dn")) {
      BlockTrace.VolumeTrace volume = trace.volume("DS-1", () -> "");
      trace.start();
      volume.record(TraceOp.READ, block(42), 16386, 0, 4096, ReadPattern.NONE, ClientKind.CLIENT);
      trace.stop();
      assertThat(records(trace).get(0)[8]).isEqualTo("16386");
      assertThat(records(trace).get(0)[2]).isNotEqualTo("42");
    }
  }

  @Test
  void filesAreForTheDataNodesUserOnly() throws IOException {
    try (BlockTrace trace = trace(4, 1 << 20, 1024)) {
      trace.start();
      trace.stop();
      assertThat(permissions(dir.resolve("dn"))).isEqualTo("rwx------");
      for (String file : trace.files().list()) {
        assertThat(permissions(dir.resolve("dn").resolve(file))).isEqualTo("rw-------");
      }
    }
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void fullFilesAreFollowedByOthersAndTheOldestGo() throws IOException {
    Path stranger = dir.resolve("dn").resolve("notes.txt");
    Files.createDirectories(stranger.getParent());
    Files.createFile(stranger);
    try (BlockTrace trace = trace(3, 1 << 10, 1 << 16)) {
      BlockTrace.VolumeTrace volume = trace.volume("DS-1", () -> "");
      trace.start();
      for (int i = 0; i < 50_000; i++) {
        volume.record(
            TraceOp.READ, block(i * 7919L), 0, i, 4096, ReadPattern.NONE, ClientKind.CLIENT);
      }
      trace.stop();
      assertThat(trace.getRecords() + trace.getDroppedRecords()).isEqualTo(50_000);
      assertThat(trace.files().list()).hasSize(3).isSorted();
      assertThat(stranger).exists();
      for (String file : trace.files().list()) {
        byte[] bytes = bytes(trace, file);
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
          assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
              .startsWith("# meld-trace 3\n")
              .endsWith(",read,none,client,0\n");
        }
      }
    }
  }

  @Test
  void onlyTraceFilesCanBeRead() throws IOException {
    Files.writeString(dir.resolve("secret"), "x");
    try (BlockTrace trace = trace(3, 1 << 20, 1024)) {
      trace.start();
      trace.stop();
      for (String name : List.of("../secret", "notes.txt", "/etc/passwd", "")) {
        assertThatThrownBy(() -> trace.files().read(name, 0, 10))
            .isInstanceOf(NoSuchFileException.class);
      }
      assertThat(trace.files().read(trace.files().list().get(0), 1L << 40, 10)).isEmpty();
    }
  }

  @Test
  void aFolderThatCannotBeMadeIsSaid() throws IOException {
    Files.createFile(dir.resolve("dn"));
    try (BlockTrace trace = trace(3, 1 << 20, 1024)) {
      assertThatThrownBy(trace::start)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("dn");
      assertThat(trace.isRecording()).isFalse();
    }
  }

  @Test
  void aFolderOfAnotherUserIsRefused() throws IOException {
    Path others = othersFolder();
    String name = "meld-trace-20260101T000000000Z-000001.csv.gz";
    try (BlockTrace trace =
        new BlockTrace(
            new TraceConfiguration(others.getParent().toString(), 3, 1 << 20, 1024, false),
            others.getFileName().toString())) {
      assertThatThrownBy(trace::start)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(others + " belongs to")
          .hasMessageContaining("dfs.datanode.meld.trace.dir");
      assertThat(trace.isRecording()).isFalse();
      assertThatThrownBy(() -> trace.files().read(name, 0, 1)).hasMessageContaining("belongs to");
    }
  }

  /** Only root can give a folder away; to all others root's are another user's. */
  private Path othersFolder() throws IOException {
    Path folder = Files.createDirectory(dir.resolve("dn"));
    if ((int) Files.getAttribute(folder, "unix:uid") != 0) {
      return Path.of("/usr");
    }
    Files.setAttribute(folder, "unix:uid", 4711);
    return folder;
  }

  @Test
  void aLinkIsNotFollowed() throws IOException {
    Path secret = Files.writeString(dir.resolve("secret"), "x");
    String name = "meld-trace-20260101T000000000Z-000001.csv.gz";
    Files.createDirectory(dir.resolve("dn"));
    Files.createSymbolicLink(dir.resolve("dn").resolve(name), secret);
    try (BlockTrace trace = trace(3, 1 << 20, 1024)) {
      assertThatThrownBy(() -> trace.files().read(name, 0, 1)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void aFailureEndsTheTraceAndIsCounted() throws IOException {
    try (BlockTrace trace = trace(3, 1 << 10, 1 << 16)) {
      BlockTrace.VolumeTrace volume = trace.volume("DS-1", () -> "");
      trace.start();
      // The next file cannot be made where its folder was.
      Files.delete(dir.resolve("dn").resolve(trace.files().list().get(0)));
      Files.delete(dir.resolve("dn"));
      Files.createFile(dir.resolve("dn"));
      long recorded = 0;
      while (trace.isRecording()) {
        volume.record(
            TraceOp.READ,
            block(recorded * 7919),
            0,
            recorded,
            4096,
            ReadPattern.NONE,
            ClientKind.CLIENT);
        recorded++;
      }
      volume.record(TraceOp.READ, block(1), 0, 0, 4096, ReadPattern.NONE, ClientKind.CLIENT);
      recorded++;
      trace.stop();
      assertThat(trace.getLastError()).contains("dn");
      assertThat(trace.getDroppedRecords()).isPositive();
      assertThat(trace.getRecords() + trace.getDroppedRecords()).isLessThanOrEqualTo(recorded);

      Files.delete(dir.resolve("dn"));
      trace.start();
      assertThat(trace.getLastError()).isEmpty();
    }
  }

  @Test
  void anErrorEndsItToo() throws IOException {
    TraceConfiguration config = new TraceConfiguration(dir.toString(), 3, 1 << 20, 1024, false);
    RecordFiles files = new RecordFiles(dir.resolve("dn"), RecordKind.TRACE);
    RecordRing ring = RecordRing.ofFirst(1024);
    TraceWriter writer =
        new TraceWriter(
            ring,
            new RotatedOutput(files, config, Instant.EPOCH, ""),
            Hashing.sipHash24(),
            false,
            volume -> {
              throw new OutOfMemoryError("Java heap space");
            },
            0);
    ring.add(0, 0, 0, 0, 0, 0, 0);
    writer.run();
    assertThat(writer.failure()).hasMessage("Java heap space");
    assertThat(writer.lost()).isEqualTo(1);
  }

  /** As the DataNode's page /jmx asks, while a trace is stopped on a disk that hangs. */
  @Test
  void whatJmxAsksWaitsForNobodyAndForNoDisk() throws Exception {
    try (BlockTrace trace = trace(3, 1 << 20, 1024)) {
      trace.start();
      MBeanInfo info = new StandardMBean(trace, Recording.class, true).getMBeanInfo();
      assertThat(info.getAttributes())
          .extracting(MBeanFeatureInfo::getName)
          .containsExactlyInAnyOrder(
              "Recording", "Records", "DroppedRecords", "LastError", "Folder");
      FutureTask<String> asked =
          new FutureTask<>(
              () ->
                  trace.isRecording()
                      + trace.getLastError()
                      + trace.getRecords()
                      + trace.getDroppedRecords());
      // A start or a stop holds it.
      synchronized (trace) {
        new Thread(asked).start();
        assertThat(asked.get(1, TimeUnit.MINUTES)).isEqualTo("true00");
      }
    }
  }

  @Test
  void oneTraceAtATime() {
    try (BlockTrace trace = trace(3, 1 << 20, 1024)) {
      trace.start();
      assertThatThrownBy(trace::start).isInstanceOf(IllegalStateException.class);
      trace.stop();
      trace.stop();
    }
  }

  @Test
  void recordingAllocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    try (BlockTrace trace = trace(3, 1 << 20, 1 << 16)) {
      BlockTrace.VolumeTrace volume = trace.volume("DS-1", () -> "");
      trace.start();
      record(volume, 200_000);
      long before = threads.getThreadAllocatedBytes(id);
      record(volume, 200_000);
      // Once in a while the counter of drops makes a cell, which is not for each record.
      assertThat(threads.getThreadAllocatedBytes(id) - before).isLessThan(200_000 / 2);
      await().until(() -> trace.getRecords() > 0);
    }
  }

  private static void record(BlockTrace.VolumeTrace volume, int count) {
    BlockKey block = block(42);
    for (int i = 0; i < count; i++) {
      volume.record(TraceOp.READ, block, 16386, 0, 4096, ReadPattern.NONE, ClientKind.CLIENT);
    }
  }
}
