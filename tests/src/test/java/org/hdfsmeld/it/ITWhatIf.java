package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two workloads of an HDFS, recorded and put before {@code meldsim what-if}: one that melding
 * serves, one that it does not. With {@code -Dmeld.keep.traces=FOLDER} the traces are kept.
 */
class ITWhatIf {
  private static final int BLOCK_BYTES = 16 << 20;
  private static final int LOOKUP_BYTES = 16 << 10;
  private static final int LOOKUPS = 1500;
  private static final int READERS = 3;
  private static final int SCANS = 4;

  /** One of each kind. */
  private static final List<String> DEVICES =
      List.of("melded-tlc-8x8", "melded-tlc-16x4", "melded-qlc-8x8", "flash-970pro", "optane-900p");

  private static final Path WAREHOUSE = new Path("/warehouse");
  private static final Path TABLE = new Path("/table");

  @TempDir java.nio.file.Path dir;

  private MeldCluster start() {
    return MeldCluster.builder()
        .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
        .set("dfs.blocksize", Integer.toString(BLOCK_BYTES))
        .meld("hint.timeout", "30s")
        .meld("hint.automatic", "full-block")
        .meld("readahead.window", "16m")
        .meld("readahead.request", "1m")
        .meld("trace.dir", dir.toString())
        .meld("trace.directories", "inode")
        .start();
  }

  @Test
  void meldingServesScans() throws Exception {
    try (MeldCluster cluster = start()) {
      List<Path> files = write(cluster, WAREHOUSE, 2 * READERS);
      Traces.all("start");
      inParallel(files, file -> () -> scan(cluster, file));
      Traces.all("stop");
    }
    String whatIf = whatIf("hdfs-scan");
    assertThat(gain(whatIf)).isGreaterThan(1.1);
    assertThat(values(whatIf, "hint")).containsOnly("sequential");
  }

  /** The table's lookups lose; the scans beside them do not, and are told apart by directory. */
  @Test
  void meldingDoesNotServeLookups() throws Exception {
    try (MeldCluster cluster = start()) {
      List<Path> table = write(cluster, TABLE, READERS);
      List<Path> warehouse = write(cluster, WAREHOUSE, 1);
      Traces.all("start");
      inParallel(table, file -> () -> lookUp(cluster, file));
      // Fewer requests would be too few to advise on.
      for (int i = 0; i < SCANS; i++) {
        inParallel(warehouse, file -> () -> scan(cluster, file));
      }
      inParallel(table, file -> () -> lookUp(cluster, file));
      Traces.all("stop");
    }
    String whatIf = whatIf("hdfs-lookup");
    assertThat(gain(whatIf)).isLessThan(1.0);
    assertThat(values(whatIf, "group")).allMatch(group -> group.startsWith("directory "));
    List<String> hints = values(whatIf, "hint");
    List<String> devices = values(whatIf.substring(whatIf.indexOf("\"advice\"")), "device");
    // Of one device, and of several: each has the two directories.
    assertThat(devices).hasSize(4).hasSameSizeAs(hints);
    assertThat(hints.subList(0, 2)).containsExactlyInAnyOrder("random", "sequential");
    for (int i = 0; i < hints.size(); i++) {
      // Memory that is mapped by address has no layouts to hint at.
      assertThat(hints.get(i).equals("null")).isEqualTo(devices.get(i).startsWith("optane"));
    }
  }

  /** What melding all data gains on the first device. */
  private static double gain(String whatIf) {
    return Double.parseDouble(values(whatIf, "gain").get(0));
  }

  /** The values of a key of JSON, wherever it stands. */
  private static List<String> values(String json, String key) {
    return Pattern.compile('"' + key + "\": \"?([^\",\n]+)")
        .matcher(json)
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  private static List<Path> write(MeldCluster cluster, Path directory, int count)
      throws IOException {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Path file = new Path(directory, "part-" + i);
      Content.write(cluster.fileSystem(), file, i, 2 * BLOCK_BYTES);
      files.add(file);
    }
    return files;
  }

  /** The whole file, front to back. */
  private static Void scan(MeldCluster cluster, Path file) throws IOException {
    byte[] buffer = new byte[1 << 20];
    try (FSDataInputStream in = cluster.fileSystem().open(file)) {
      while (in.read(buffer) >= 0) {
        // Only the reads are wanted.
      }
    }
    return null;
  }

  private static Void lookUp(MeldCluster cluster, Path file) throws IOException {
    Random random = new Random(file.hashCode());
    byte[] row = new byte[LOOKUP_BYTES];
    try (FSDataInputStream in = cluster.fileSystem().open(file)) {
      for (int i = 0; i < LOOKUPS / READERS; i++) {
        in.readFully(random.nextInt(2 * BLOCK_BYTES - LOOKUP_BYTES), row);
      }
    }
    return null;
  }

  private interface Reading {
    Callable<Void> of(Path file);
  }

  private static void inParallel(List<Path> files, Reading reading) throws Exception {
    ExecutorService readers = Executors.newFixedThreadPool(READERS);
    try {
      for (Future<Void> done : readers.invokeAll(files.stream().map(reading::of).toList())) {
        done.get();
      }
    } finally {
      readers.shutdownNow();
    }
  }

  /** What the program says of the trace, which is kept under this name where that is wanted. */
  private String whatIf(String name) throws Exception {
    assertThat(Traces.total("DroppedRecords")).isZero();
    java.nio.file.Path trace = Traces.files(dir).get(0);
    String keep = System.getProperty("meld.keep.traces", "");
    if (!keep.isEmpty()) {
      Files.copy(
          trace,
          java.nio.file.Path.of(keep, name + ".meld.gz"),
          StandardCopyOption.REPLACE_EXISTING);
    }
    java.nio.file.Path result = dir.resolve("what-if.json");
    List<String> command = new ArrayList<>(List.of("../native-sim/target/release/meldsim"));
    command.addAll(List.of("what-if", trace.toString(), "--format", "json"));
    DEVICES.forEach(device -> command.addAll(List.of("--profile", device)));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(result.toFile())
            .start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    String json = Files.readString(result);
    assertThat(process.exitValue()).as(json).isZero();
    return json;
  }
}
