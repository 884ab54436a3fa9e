package org.hdfsmeld.datanode.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.WriterAppender;
import org.apache.logging.log4j.core.layout.PatternLayout;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * State that another release of the plugin left in a volume.
 *
 * <p>Release 0.1.0 was killed after it had written block 3 and deleted block 2. Blocks 1 and 2 are
 * in its last snapshot. Nine reads of a file and one of a block of unknown origin are in the
 * history. Of the others, one differs in the snapshot's own version, and two in that of the
 * simulator's snapshot in it.
 */
class TestStateVersions {
  private static final Path FILES = Path.of("src/test/resources/state");

  @TempDir Path dir;

  private final StringWriter log = new StringWriter();
  private final Logger root = (Logger) LogManager.getRootLogger();
  private final WriterAppender appender =
      WriterAppender.createAppender(
          PatternLayout.createDefaultLayout(), null, log, "versions", false, true);
  private MeldVolumes volumes;
  private MeldVolume volume;

  @BeforeEach
  void capture() {
    appender.start();
    root.addAppender(appender);
  }

  @AfterEach
  void close() {
    volumes.close();
    root.removeAppender(appender);
  }

  private void put(String release) throws IOException {
    Path from = FILES.resolve(release);
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path to = dir.resolve(from.relativize(file).toString());
        Files.createDirectories(to.getParent());
        Files.copy(file, to, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private void start() throws IOException {
    Configuration conf = new Configuration();
    conf.set("dfs.blocksize", "1m");
    String profile = FILES.resolve("profile.toml").toString();
    File current = dir.resolve("current").toFile();
    volumes =
        FakeDevice.volumes(MeldConfiguration.read(conf), SimDeviceOpener.ofLibrary("", profile));
    volumes.add("DS-1", current);
    volume = volumes.holding(new File(current, "BP-1/blk_1"));
  }

  private long counter(String name) {
    return FakeDevice.counters(volume).get(name);
  }

  private void assertRefused(String file) {
    assertSaid(file, "version 99", "go back to the plugin that wrote it");
  }

  private void assertSimulatorsRefused(int version, String file) {
    assertSaid(
        file,
        "the snapshot has version " + version + ", this simulator reads ",
        "blocks are laid out anew from the replicas. Nothing needs to be done.");
  }

  private void assertSaid(String file, String... parts) {
    assertThat(log.toString().lines())
        .filteredOn(line -> line.contains(dir.resolve(file).toString()))
        .singleElement()
        .asString()
        .contains(parts);
  }

  private void assertBeginsEmpty(int rejected) {
    assertThat(counter("state_rejected")).isEqualTo(rejected);
    assertThat(counter("blocks_mapped")).isZero();
    assertThat(volume.isHealthy()).isTrue();
  }

  /** Its simulator wrote version 3. */
  @Test
  void theStateOfTheReleaseBeforeIsRefusedInWordsAndTheDeviceBeginsEmpty() throws IOException {
    put("written-by-0.1.0");
    start();
    assertSimulatorsRefused(3, "meld/snapshot-3");
    assertSimulatorsRefused(3, "meld/snapshot-2");
    assertBeginsEmpty(2);
    assertThat(counter("history_entries")).as("by inodes").isZero();
    assertThat(log.toString()).contains("A read history of version 1 is by inodes");
    assertThat(counter("history_resets")).isZero();
  }

  @Test
  void aStateWithAnEarlierSimulatorsSnapshotIsRefusedAsWell() throws IOException {
    put("with-a-simulators-version-5");
    start();
    assertSimulatorsRefused(5, "meld/snapshot-3");
    assertBeginsEmpty(1);
  }

  @Test
  void aLaterStateIsRefusedInWordsAndTheDeviceBeginsEmpty() throws IOException {
    put("of-version-99");
    start();
    assertRefused("meld/snapshot-4");
    assertRefused("meld-read-history");
    assertBeginsEmpty(1);
    assertThat(counter("history_entries")).isZero();
    assertThat(counter("history_resets")).isEqualTo(1);
  }

  @Test
  void anOwnSnapshotBesideALaterStateIsUsed() throws IOException {
    put("written-by-0.1.0");
    put("with-todays-simulator");
    Files.delete(dir.resolve("meld-read-history"));
    put("of-version-99");
    start();
    assertRefused("meld/snapshot-4");
    assertRefused("meld/journal-4");
    assertThat(counter("state_rejected")).isEqualTo(2);
    assertThat(counter("state_restored_blocks")).isEqualTo(1);
    assertThat(counter("state_relaid_blocks")).isEqualTo(1);
  }
}
