package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code hdfs meld} against a cluster: what it prints, and how it exits. */
class ITMeldAdmin {
  private static final Path FILE = new Path("/table/part/file");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private static MeldCluster cluster;

  /** As from a process of its own: no connection is left to a DataNode that restarts. */
  private int idleMs;

  @BeforeAll
  static void start() {
    cluster =
        MeldCluster.builder()
            .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
            .meld("hint.timeout", "30s")
            // So that a restarted DataNode knows of no block until it is read.
            .meld("state.enabled", "false")
            .start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @BeforeEach
  void makeTable() throws IOException {
    cluster.fileSystem().mkdirs(FILE.getParent());
  }

  @AfterEach
  void deleteTable() throws IOException {
    cluster.fileSystem().delete(new Path("/table"), true);
  }

  private int meld(String... arguments) throws Exception {
    out.reset();
    err.reset();
    Configuration conf = new Configuration(cluster.fileSystem().getConf());
    conf.setInt("ipc.client.connection.maxidletime", idleMs);
    return ToolRunner.run(
        conf,
        new MeldAdmin(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)),
        arguments);
  }

  private String printed() {
    return out.toString(StandardCharsets.UTF_8).trim();
  }

  private String complained() {
    return err.toString(StandardCharsets.UTF_8).trim();
  }

  @Test
  void patternsAreSetShownAndUnset() throws Exception {
    assertThat(meld("-getReadPattern", "/table")).isZero();
    assertThat(printed()).isEqualTo("The read pattern of /table: unspecified");

    assertThat(meld("-setReadPattern", "Random", "/table")).isZero();
    assertThat(printed()).isEqualTo("Set read pattern random on /table");
    assertThat(meld("-getReadPattern", "/table")).isZero();
    assertThat(printed()).isEqualTo("The read pattern of /table: random");
    assertThat(meld("-getReadPattern", "/table/part")).isZero();
    assertThat(printed())
        .isEqualTo("The read pattern of /table/part: random (inherited from /table)");

    assertThat(meld("-unsetReadPattern", "/table")).isZero();
    assertThat(printed()).isEqualTo("Unset read pattern from /table");
    assertThat(meld("-unsetReadPattern", "/table")).isZero();
    assertThat(printed()).isEqualTo("The read pattern of /table was not set");
  }

  @Test
  void anInvalidValueIsShown() throws Exception {
    cluster
        .fileSystem()
        .setXAttr(new Path("/table"), "user.meld.read-pattern", new byte[] {'o', 'f', 't'});
    assertThat(meld("-getReadPattern", "/table/part")).isZero();
    assertThat(printed())
        .isEqualTo(
            "The read pattern of /table/part: 'oft', which is no read pattern: taken as"
                + " unspecified (inherited from /table)");
    Content.write(cluster.fileSystem(), FILE, 1, MeldCluster.BLOCK_BYTES);
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(printed()).contains("'oft', which is no read pattern").contains("full_block");
  }

  @Test
  void mistakesAreNamed() throws Exception {
    assertThat(meld("-setReadPattern", "often", "/table")).isEqualTo(1);
    assertThat(complained())
        .isEqualTo("Unknown read pattern 'often'; use sequential, random, none or auto.");
    assertThat(meld("-setReadPattern", "random")).isEqualTo(1);
    assertThat(complained()).isEqualTo("Usage: hdfs meld [-setReadPattern <pattern> <path>]");
    assertThat(meld("-getReadPattern", "/absent")).isEqualTo(2);
    assertThat(complained()).startsWith("File/Directory does not exist: ").contains("/absent");
    assertThat(meld("report")).isEqualTo(1);
    assertThat(complained())
        .startsWith("Can't understand command 'report'")
        .contains("Command names must start with dashes.");
    assertThat(meld()).isEqualTo(1);
    assertThat(complained()).contains("Usage: hdfs meld [COMMAND]").contains("[-report]");
  }

  @Test
  void helpNamesAllCommandsOrOne() throws Exception {
    assertThat(meld("-help")).isZero();
    assertThat(printed()).contains("-setReadPattern", "-explain", "-report");
    assertThat(meld("-help", "explain")).isZero();
    assertThat(printed()).startsWith("[-explain <path>]").doesNotContain("-report");
    assertThat(meld("-help", "nothing")).isEqualTo(1);
  }

  @Test
  void explainShowsEachReplicaWithItsReasonAndLayout() throws Exception {
    meld("-setReadPattern", "random", "/table");
    Content.write(cluster.fileSystem(), FILE, 1, 2 * MeldCluster.BLOCK_BYTES);
    ITHints.flush();
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(printed())
        .startsWith(
            "/table/part/file: 8388608 bytes in 2 blocks, read pattern random (inherited from"
                + " /table)")
        .containsPattern("1\\. blk_\\d+: 4194304 bytes")
        .contains(
            "[melded-tlc-8x8]: random, explicit (user.meld.read-pattern of the directory 2 levels"
                + " up); layout normal, 0 % of 1024 pages melded");

    meld("-setReadPattern", "sequential", "/table/part");
    Path other = new Path(FILE.getParent(), "other");
    Content.write(cluster.fileSystem(), other, 1, 1 << 18);
    ITHints.flush();
    assertThat(meld("-explain", other.toString())).isZero();
    assertThat(printed())
        .contains(
            "sequential, explicit (user.meld.read-pattern of its directory); layout melded, 100 %"
                + " of 64 pages melded");

    assertThat(meld("-explain", "/table")).isZero();
    assertThat(printed()).isEqualTo("/table: a directory, read pattern random");
  }

  /** As Spark commits: a job writes its files far below, and renames them. */
  @Test
  void explainNamesTheAttributeByWhereTheFileIsNow() throws Exception {
    meld("-setReadPattern", "random", "/table");
    Path written = new Path("/table/_temporary/0/_temporary/attempt_0/part=1/file");
    Content.write(cluster.fileSystem(), written, 1, MeldCluster.BLOCK_BYTES);
    cluster.fileSystem().rename(written, FILE);
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(printed())
        .contains("random, explicit (user.meld.read-pattern of the directory 2 levels up)");
    meld("-setReadPattern", "sequential", "/table/part");
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(printed())
        .contains("read pattern sequential (inherited from /table/part)")
        .contains(
            "random, explicit (user.meld.read-pattern as it was when the block was laid out)");
  }

  @Test
  void aConnectionFromBeforeARestartIsNoReasonForNoAnswer() throws Exception {
    Content.write(cluster.fileSystem(), FILE, 1, MeldCluster.BLOCK_BYTES);
    idleMs = 10_000;
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    DFSTestUtil.waitReplication(cluster.fileSystem(), FILE, (short) 1);
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(printed()).contains("not on a device yet").doesNotContain("no answer");
  }

  @Test
  void aBlockThatNobodyReadSinceTheRestartIsExplainedToo() throws Exception {
    meld("-setReadPattern", "random", "/table");
    Content.write(cluster.fileSystem(), FILE, 1, MeldCluster.BLOCK_BYTES);
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    DFSTestUtil.waitReplication(cluster.fileSystem(), FILE, (short) 1);
    assertThat(meld("-explain", FILE.toString())).isZero();
    assertThat(printed()).contains("not on a device yet: auto, none (not known yet: ");
  }

  @Test
  void reportShowsTheVolumesAndTheHints() throws Exception {
    // Counts from here on.
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    meld("-setReadPattern", "random", "/table");
    Content.write(cluster.fileSystem(), FILE, 1, 2 * MeldCluster.BLOCK_BYTES);
    ITHints.flush();
    assertThat(meld("-report")).isZero();
    assertThat(printed())
        .containsPattern("DataNode 127.0.0.1:\\d+")
        .containsPattern("Hints: asked \\d+, hits \\d+, .*invalid 0, breaker_open 0")
        .contains("melded-tlc-8x8, account, in service")
        .contains("explicit 2, history 0, full_block 0, none 0");
  }
}
