package org.hdfsmeld.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.Churn;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The suite's job churn on its small device, without lifetimes and with them. */
class ITChurn {
  private static final long MIB = 1 << 20;

  @TempDir Path directory;

  @Test
  void dataOfEachLifetimeHasAHandleAndNoMoreIsMoved() throws Exception {
    JsonNode off = churn("off");
    JsonNode on = churn("history");
    for (JsonNode run : new JsonNode[] {off, on}) {
      JsonNode simulator = run.path("simulator");
      long written = simulator.path("writtenBytes").asLong();
      // One replica; what the job wrote, in whole pages.
      assertThat(written).isEqualTo(run.path("result").path("writtenBytes").asLong());
      assertThat(written).as("the device is written over").isGreaterThan(3 * 336 * MIB);
      assertThat(simulator.path("dataNodes").path(0).path("volumes").path(0).path("errors").asInt())
          .isZero();
    }
    assertThat(off.path("simulator").path("lifetimeBlocks").asLong()).isZero();
    long blocks = on.path("result").path("writtenBytes").asLong() / MIB;
    assertThat(on.path("simulator").path("lifetimeBlocks").asLong()).isBetween(blocks / 2, blocks);
    // HDFS deletes by the wall clock, so that how much there is to move differs from run to run.
    assertThat(amplification(off)).isGreaterThanOrEqualTo(1);
    assertThat(amplification(on)).as("with lifetimes").isLessThan(amplification(off) + 0.02);
    System.out.printf(
        "Bytes programmed for each byte written, simulated: %.3f with one handle, %.3f with lifetimes%n",
        amplification(off), amplification(on));
  }

  private static double amplification(JsonNode run) {
    return run.path("simulator").path("writeAmplification").asDouble();
  }

  private JsonNode churn(String automatic) throws Exception {
    Configuration conf = new Configuration();
    conf.setLong("dfs.blocksize", MIB);
    conf.setInt("dfs.replication", 1);
    conf.setInt("dfs.heartbeat.interval", 1);
    conf.set("dfs.namenode.redundancy.interval.seconds", "1s");
    conf.set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService");
    conf.set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
    conf.set("dfs.datanode.meld.mode", "account");
    Path profile = Path.of("..", "docker", "variants", "fdp-small.toml").toRealPath();
    conf.set("dfs.datanode.meld.profile", profile.toString());
    conf.set("dfs.datanode.meld.hint.automatic", automatic);
    conf.set("dfs.datanode.meld.hint.full-block-sequential", "false");
    conf.set("dfs.datanode.meld.hint.history.shortest-life", "5s");
    // A busy machine must not turn a lifetime into none.
    conf.set("dfs.datanode.meld.hint.timeout", "10s");
    Path folder = Files.createDirectory(directory.resolve(automatic));
    Path json = folder.resolve("churn.json");
    try (MiniDFSCluster hdfs =
        new MiniDFSCluster.Builder(conf, folder.toFile()).storagesPerDatanode(1).build()) {
      hdfs.waitActive();
      SparkSession.builder()
          .master("local[2]")
          .config("spark.ui.enabled", false)
          .config("spark.driver.host", "127.0.0.1")
          .config("spark.driver.bindAddress", "127.0.0.1")
          .config("spark.hadoop.dfs.replication", 1)
          .getOrCreate();
      Churn.main(
          new String[] {
            "--datanodes",
            "127.0.0.1:" + hdfs.getDataNodes().get(0).getInfoPort(),
            "--least-seconds",
            "1",
            "--json",
            json.toString(),
            "--output",
            hdfs.getURI() + "/churn"
          });
    }
    return new ObjectMapper().readTree(json.toFile());
  }
}
