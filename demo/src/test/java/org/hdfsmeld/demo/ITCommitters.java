package org.hdfsmeld.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.util.ToolRunner;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Spark writes a table's partition by each of its committers, and scans the table; what it writes
 * the next day is melded as that was read. By size nothing is.
 */
class ITCommitters {
  private static final int BLOCK_BYTES = 8 << 20;
  private static final int FILES = 4;
  private static final int LINES = 200_000;
  private static final double MELDED = 0.95;
  private static final String ALGORITHM = "mapreduce.fileoutputcommitter.algorithm.version";
  private static final Pattern PAGES = Pattern.compile("(\\d+) % of (\\d+) pages melded");

  @TempDir static Path directory;

  private static MiniDFSCluster hdfs;
  private static SparkSession spark;

  /** Tables have their names, in which a number would make them one kind. */
  private enum Committer {
    FIRST_ALGORITHM,
    SECOND_ALGORITHM,
    DYNAMIC_OVERWRITE,
    /** A folder of its own for each run. */
    UUID_FOLDER;

    void write(Dataset<Row> rows, String table) {
      switch (this) {
        case FIRST_ALGORITHM ->
            rows.write().option(ALGORITHM, 1).mode(SaveMode.Append).partitionBy("date").text(table);
        case SECOND_ALGORITHM ->
            rows.write().option(ALGORITHM, 2).mode(SaveMode.Append).partitionBy("date").text(table);
        case DYNAMIC_OVERWRITE ->
            rows.write()
                .option("partitionOverwriteMode", "dynamic")
                .mode(SaveMode.Overwrite)
                .partitionBy("date")
                .text(table);
        case UUID_FOLDER -> rows.drop("date").write().text(table + "/" + UUID.randomUUID());
      }
    }
  }

  @BeforeAll
  static void start() throws Exception {
    Configuration conf = new Configuration();
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
    conf.setInt("dfs.replication", 1);
    // What is in the device's buffer has no layout yet.
    conf.setBoolean("dfs.datanode.synconclose", true);
    conf.set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService");
    conf.set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
    conf.set("dfs.datanode.meld.mode", "account");
    conf.set("dfs.datanode.meld.hint.full-block-sequential", "false");
    // A busy machine must not turn a history into none.
    conf.set("dfs.datanode.meld.hint.timeout", "30s");
    File home = directory.resolve("hdfs").toFile();
    hdfs = new MiniDFSCluster.Builder(conf, home).storagesPerDatanode(1).build();
    hdfs.waitActive();
    spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.hadoop.dfs.replication", 1)
            .config("spark.hadoop.dfs.blocksize", BLOCK_BYTES)
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    spark.stop();
    hdfs.shutdown(true);
  }

  private static Dataset<Row> rows(int day) {
    return spark
        .range(0, LINES, 1, FILES)
        .selectExpr(
            "repeat(sha1(cast(id as string)), 10) as value", "'2026-11-0" + day + "' as date");
  }

  private static void scan(String table) {
    assertThat(
            spark
                .read()
                .option("recursiveFileLookup", true)
                .text(table)
                .selectExpr("sum(length(value))")
                .first()
                .getLong(0))
        .isEqualTo(400L * LINES);
  }

  /** As soon as it shows all that was done. */
  private static long counter(String name) throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName all = new ObjectName("Hadoop:service=DataNode,name=MeldVolume-*");
    ObjectName bean = server.queryNames(all, null).iterator().next();
    MeldVolumeMXBean volume = JMX.newMXBeanProxy(server, bean, MeldVolumeMXBean.class);
    await().until(() -> volume.getCounters().get("counters_pending") == 0);
    return volume.getCounters().get(name);
  }

  /** Share of the pages of the files that are melded, as {@code hdfs meld -explain} has it. */
  private static double meldedPages(String table, long sinceMs) throws Exception {
    double melded = 0;
    double pages = 0;
    var files = hdfs.getFileSystem().listFiles(new org.apache.hadoop.fs.Path(table), true);
    while (files.hasNext()) {
      FileStatus file = files.next();
      if (file.getLen() == 0 || file.getModificationTime() < sinceMs) {
        continue;
      }
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      ToolRunner.run(
          new Configuration(hdfs.getFileSystem().getConf()),
          new MeldAdmin(new PrintStream(said, true, StandardCharsets.UTF_8), System.err),
          new String[] {"-explain", file.getPath().toString()});
      Matcher block = PAGES.matcher(said.toString(StandardCharsets.UTF_8));
      while (block.find()) {
        double all = Double.parseDouble(block.group(2));
        pages += all;
        melded += all * Double.parseDouble(block.group(1)) / 100;
      }
    }
    assertThat(pages).isPositive();
    return melded / pages;
  }

  @ParameterizedTest
  @EnumSource
  void theNextDaysPartitionIsMeldedAsTheFirstWasScanned(Committer committer) throws Exception {
    String table = hdfs.getURI() + "/warehouse/" + committer.name();
    long hinted = counter("hinted_blocks");
    long runs = counter("history_runs");
    committer.write(rows(1), table);
    assertThat(counter("hinted_blocks")).isEqualTo(hinted);
    long blocks = counter("blocks_mapped");
    scan(table);
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> counter("history_runs") >= runs + 8 && counter("crossover_bytes") > 0);

    long mapped = counter("mapped_pages");
    long melded = counter("melded_mapped_pages");
    long sinceMs = System.currentTimeMillis();
    committer.write(rows(2), table);
    long written = counter("blocks_mapped") - blocks;
    double byBlocks = (double) (counter("hinted_blocks") - hinted) / written;
    double byPages =
        (double) (counter("melded_mapped_pages") - melded) / (counter("mapped_pages") - mapped);
    double explained = meldedPages(table, sinceMs);
    System.out.printf(
        "%s: melded on the second day: %.3f of the blocks, %.3f of the device's pages, %.3f as"
            + " explained%n",
        committer, byBlocks, byPages, explained);
    assertThat(byBlocks).isGreaterThanOrEqualTo(MELDED);
    assertThat(byPages).isGreaterThanOrEqualTo(MELDED);
    assertThat(explained).isGreaterThanOrEqualTo(MELDED);
  }
}
