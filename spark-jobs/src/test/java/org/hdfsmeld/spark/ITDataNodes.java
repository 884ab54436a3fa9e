package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.management.ObjectName;
import org.hdfsmeld.spark.cli.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job's record of the devices, by a real DataNode's web server; only the bean is made up. */
class ITDataNodes {
  /** A volume as the plugin shows it. */
  public interface VolumeMXBean {
    String getVolume();

    String getDevice();

    String getProfile();

    String getMode();

    double getTimeDilation();

    boolean isHealthy();

    Map<String, Long> getCounters();
  }

  /** A volume whose readers wait all the time. */
  public static final class Volume implements VolumeMXBean {
    private final long start = System.nanoTime();

    @Override
    public String getVolume() {
      return "/data/1";
    }

    @Override
    public String getDevice() {
      return "";
    }

    @Override
    public String getProfile() {
      return "melded-tlc-8x8";
    }

    @Override
    public String getMode() {
      return "real-time";
    }

    @Override
    public double getTimeDilation() {
      return 40;
    }

    @Override
    public boolean isHealthy() {
      return true;
    }

    @Override
    public Map<String, Long> getCounters() {
      long nanos = System.nanoTime() - start;
      return Map.of(
          "now_ps",
          nanos * 25,
          "active_ps",
          nanos * 25,
          "read_commands",
          nanos,
          "reader_wait_ns",
          nanos,
          "hints_full_block",
          3L);
    }
  }

  @Test
  void recordHasDevicesAndLabels(@TempDir Path folder) throws Exception {
    ObjectName name = new ObjectName("Hadoop:service=DataNode,name=MeldVolume-DS-1");
    ManagementFactory.getPlatformMBeanServer().registerMBean(new Volume(), name);
    Path json = folder.resolve("lookup.json");
    try (LocalHdfs hdfs = new LocalHdfs("datanodes", 2)) {
      hdfs.write(hdfs.path("data"), new byte[100_000]);
      int code =
          JobCommand.execute(
              new Lookup(),
              "--datanodes",
              hdfs.dataNodeWeb() + ",127.0.0.1:1",
              "--label",
              "variant=melded",
              "--label",
              "round=2",
              "--reads",
              "20",
              "--bytes",
              "1k",
              "--threads",
              "2",
              "--json",
              json.toString(),
              hdfs.path("data"));
      assertThat(code).isZero();
    } finally {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
    }
    JsonNode record = Json.parse(Files.readString(json));
    assertThat(record.path("labels").path("variant").asText()).isEqualTo("melded");
    JsonNode simulator = record.path("simulator");
    JsonNode node = simulator.path("dataNodes").path(0);
    assertThat(node.path("error").isNull()).isTrue();
    assertThat(node.path("volumes").path(0).path("readerWaitSeconds").asDouble()).isPositive();
    assertThat(node.path("devices").path(0).path("timeDilation").asDouble()).isEqualTo(40);
    // The device is busy from the first reading to the second; tasks run for less.
    assertThat(node.path("devices").path(0).path("utilisation").asDouble()).isGreaterThan(1);
    assertThat(simulator.path("readerWaitShare").asDouble()).isPositive();
    // Two threads read in each task.
    assertThat(simulator.path("readerSeconds").asDouble())
        .isEqualTo(2 * record.path("result").path("stages").path(0).path("taskSeconds").asDouble());
    // The other one does not answer, and so nobody knows who waited for whom.
    assertThat(simulator.path("dataNodes").path(1).path("error").asText()).contains("before");
    assertThat(simulator.path("bottleneck").asText()).isEqualTo("unknown");
  }
}
