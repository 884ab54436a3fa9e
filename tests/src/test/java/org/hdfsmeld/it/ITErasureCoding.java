package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.datanode.volume.SimulatedDataset;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Striped files: a DataNode has an internal block of a block group, and treats it as a block. */
class ITErasureCoding {
  private static final String POLICY = "XOR-2-1-1024k";
  private static final int CELL_BYTES = 1 << 20;
  private static final int DATA_UNITS = 2;
  private static final int UNITS = 3;

  /** Two block groups, their internal blocks full. */
  private static final int FULL_BYTES = 2 * DATA_UNITS * MeldCluster.BLOCK_BYTES;

  private static final AtomicInteger DIRECTORIES = new AtomicInteger();

  /** Of the tests that stop no DataNode: one for each unit. */
  private static MeldCluster shared;

  /** Each test has its own. */
  private final Path directory = new Path("/striped-" + DIRECTORIES.incrementAndGet());

  private final Path file = new Path(directory, "file");
  private MeldCluster cluster;
  private Volumes.Since since;

  @BeforeAll
  static void startShared() {
    shared = start(UNITS);
  }

  @AfterAll
  static void stopShared() {
    shared.close();
  }

  private static MeldCluster start(int dataNodes) {
    return MeldCluster.builder()
        .dataNodes(dataNodes)
        .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
        .meld("hint.timeout", "30s")
        .start();
  }

  private void use(MeldCluster started, String pattern) throws IOException {
    cluster = started;
    ITHints.flush();
    since = new Volumes.Since();
    cluster.fileSystem().mkdirs(directory);
    cluster.fileSystem().enableErasureCodingPolicy(POLICY);
    cluster.fileSystem().setErasureCodingPolicy(directory, POLICY);
    if (!pattern.isEmpty()) {
      cluster
          .fileSystem()
          .setXAttr(directory, "user.meld.read-pattern", pattern.getBytes(StandardCharsets.UTF_8));
    }
  }

  private byte[] write(int bytes) throws IOException {
    byte[] content = Content.random(bytes, bytes);
    try (FSDataOutputStream out = cluster.fileSystem().create(file)) {
      out.write(content);
    }
    return content;
  }

  private String meld(String... arguments) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    Configuration conf = new Configuration(cluster.fileSystem().getConf());
    assertThat(ToolRunner.run(conf, new MeldAdmin(out, out), arguments)).isZero();
    return printed.toString(StandardCharsets.UTF_8);
  }

  /** As of now: what a DataNode answers to {@code hdfs meld -report} may be a second old. */
  private long reported(String counter) {
    return cluster.hdfs().getDataNodes().stream()
        .map(dataNode -> (SimulatedDataset) dataNode.getFSDataset())
        .mapToLong(dataset -> dataset.simulated().report().hints().get(counter))
        .sum();
  }

  @Test
  void anAttributeCountsForDataAndParity() throws Exception {
    use(shared, "random");
    long asked = reported("asked");
    long hits = reported("hits");
    write(FULL_BYTES);
    assertThat(since.total("hints_explicit")).isEqualTo(2 * UNITS);
    assertThat(reported("asked") - asked).as("one question for each").isEqualTo(2 * UNITS);
    assertThat(reported("hits")).isEqualTo(hits);
    ITHints.assertApart(since);
  }

  @Test
  void aFileOfLessThanACellIsOneDataBlockAndItsParity() throws Exception {
    use(shared, "sequential");
    write(CELL_BYTES / 8);
    assertThat(since.total("hints_explicit")).isEqualTo(2);
    ITHints.assertMelded(since);
  }

  @Test
  void withoutAnAttributeTheInternalBlocksSizeDecides() throws Exception {
    use(shared, "");
    write(DATA_UNITS * MeldCluster.HINT_MIN_BYTES);
    assertThat(since.total("hints_none")).isEqualTo(UNITS);
    ITHints.assertApart(since);
    cluster.fileSystem().delete(file, false);
    await().until(() -> since.total("blocks_mapped") == 0);
    write(2 * DATA_UNITS * MeldCluster.HINT_MIN_BYTES);
    assertThat(since.total("hints_full_block")).isEqualTo(UNITS);
    ITHints.assertMelded(since);
  }

  @Test
  void aScanReadsEachDataBlockFrontToBackAndNoParity() throws Exception {
    use(shared, "");
    byte[] content = write(FULL_BYTES);
    Content.assertSame(cluster.fileSystem(), file, content);
    await().until(() -> since.total("history_runs") == 2 * DATA_UNITS);
    assertThat(since.total("host_read_bytes")).isEqualTo(FULL_BYTES);
    assertThat(since.total("read_commands")).isLessThan(FULL_BYTES / CELL_BYTES * 8);
  }

  @Test
  void aPositionalReadIsOnePieceOnEachDataNode() throws Exception {
    use(shared, "");
    write(FULL_BYTES);
    byte[] stripes = new byte[2 * DATA_UNITS * CELL_BYTES];
    try (FSDataInputStream in = cluster.fileSystem().open(file)) {
      in.readFully(CELL_BYTES + 5000, stripes, 0, 4096);
      await().until(() -> since.total("history_runs") == 1);
      in.readFully(0, stripes, 0, stripes.length);
      await().until(() -> since.total("history_runs") == 1 + DATA_UNITS);
    }
  }

  @Test
  void whatIsReconstructedHasThePatternAndCountsAsNoRead() throws Exception {
    try (MeldCluster own = start(UNITS + 1)) {
      use(own, "random");
      byte[] content = write(FULL_BYTES);
      BlockLocation group = cluster.fileSystem().getFileBlockLocations(file, 0, 1)[0];
      // Dead at once, not after the NameNode's patience.
      cluster
          .hdfs()
          .setDataNodeDead(
              cluster.hdfs().stopDataNode(group.getNames()[0]).getDatanode().getDatanodeId());
      await().until(() -> since.total("hints_explicit") == 2 * UNITS);
      assertThat(since.total("history_runs")).isZero();
      ITHints.assertApart(since);
      Content.assertSame(cluster.fileSystem(), file, content);
    }
  }

  @Test
  void explainNamesTheInternalBlocks() throws Exception {
    use(shared, "random");
    write(FULL_BYTES);
    ITHints.flush();
    String explained = meld("-explain", file.toString());
    assertThat(explained)
        .startsWith(file + ": " + FULL_BYTES + " bytes in 2 block groups of " + POLICY + ", ")
        .containsPattern("0\\. blk_-\\d+: " + FULL_BYTES / 2 + " bytes");
    String layout =
        " \\(%s\\) 127\\.0\\.0\\.1:\\d+ .*: random, explicit \\(.* of its directory\\); layout normal, "
            + "0 %% of 1024 pages melded";
    assertThat(Pattern.compile(String.format(layout, "data")).matcher(explained).results())
        .hasSize(2 * DATA_UNITS);
    assertThat(Pattern.compile(String.format(layout, "parity")).matcher(explained).results())
        .hasSize(2);
    assertThat(
            Pattern.compile("   blk_-\\d+ ").matcher(explained).results().map(MatchResult::group))
        .doesNotHaveDuplicates()
        .hasSize(2 * UNITS);
  }
}
