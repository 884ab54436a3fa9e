package org.hdfsmeld.spark.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a job's record says of the devices, from the answers of a DataNode's web server. */
class TestSimulatorUse {
  private static final long PS = 1_000_000_000_000L;

  /** A volume with a device of its own. */
  private static final String OWN = "'Volume':'/data/1','Device':''";

  private HttpServer server;
  private String address;
  private volatile String answer = "{\"beans\":[]}";
  private volatile int status = 200;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/jmx",
        exchange -> {
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    server.start();
    address = "127.0.0.1:" + server.getAddress().getPort();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void deviceThatReadersWaitForIsTheBottleneck() throws Exception {
    DataNodeBeans before = read(own(0, 0, 0), traceBean());
    // Half a simulated second of reading, at a dilation of 40, in 20 s of wall time.
    DataNodeBeans after = read(own(PS / 2, 19_000_000_000L, 512L << 20), traceBean());
    SimulatorUse use = SimulatorUse.of(List.of(DataNodeUse.between(before, after, 20)), 20, 20, 0);
    assertThat(use.bottleneck()).isEqualTo("device");
    assertThat(use.readerWaitShare()).isCloseTo(0.95, within(1e-9));
    assertThat(use.utilisation()).isCloseTo(1, within(1e-9));
    assertThat(use.readMibPerSecond()).isCloseTo(1024, within(1e-9));
    assertThat(use.dataNodes().get(0).devices()).hasSize(1);
    // As many readers waited no longer, but two tasks did something else.
    assertThat(SimulatorUse.of(use.dataNodes(), 20, 60, 0).bottleneck()).isEqualTo("host");
  }

  @Test
  void sharedDeviceIsCountedOnce() throws Exception {
    DataNodeBeans before = read(shared(0, 0), volume("/data/1", 0), volume("/data/2", 0));
    DataNodeBeans after =
        read(shared(PS, 1 << 20), volume("/data/1", 1_000_000_000), volume("/data/2", 500_000_000));
    DataNodeUse node = DataNodeUse.between(before, after, 100);
    assertThat(node.volumes()).hasSize(2).allMatch(volume -> volume.device().equals("ssd"));
    assertThat(node.devices()).hasSize(1);
    assertThat(node.devices().get(0).volumes()).containsExactly("/data/1", "/data/2");
    SimulatorUse use = SimulatorUse.of(List.of(node), 100, 10, 0);
    assertThat(use.readerWaitShare()).isCloseTo(0.15, within(1e-9));
    assertThat(use.readMibPerSecond()).isCloseTo(1, within(1e-9));
    assertThat(use.utilisation()).isCloseTo(0.4, within(1e-9));
  }

  @Test
  void accountedDeviceHasNoUtilisation() throws Exception {
    DataNodeBeans before = read(own(0, 0, 0).replace("real-time", "account"));
    DataNodeBeans after = read(own(PS, 0, 1 << 20).replace("real-time", "account"));
    SimulatorUse use = SimulatorUse.of(List.of(DataNodeUse.between(before, after, 1)), 1, 1, 0);
    assertThat(use.utilisation()).isNull();
    assertThat(use.bottleneck()).isEqualTo("host");
  }

  @Test
  void deviceThatRefusedCommandsHasNoAmplification() throws Exception {
    SimulatorUse use = written(0);
    assertThat(use.writtenBytes()).isEqualTo(100);
    assertThat(use.flashBytes()).isEqualTo(150);
    assertThat(use.writeAmplification()).isEqualTo(1.5);
    assertThat(written(1).writeAmplification()).isNull();
  }

  private SimulatorUse written(long refused) throws Exception {
    DataNodeBeans before = read(bean("MeldVolume-a", OWN, Map.of("now_ps", 0L)));
    Map<String, Long> counters =
        Map.of(
            "now_ps",
            PS,
            "active_ps",
            PS,
            "write_commands",
            2L,
            "host_written_bytes",
            100L,
            "programmed_bytes",
            150L,
            "failed_commands",
            refused);
    DataNodeBeans after = read(bean("MeldVolume-a", OWN, counters));
    return SimulatorUse.of(List.of(DataNodeUse.between(before, after, 1)), 1, 0, 1);
  }

  @Test
  void silentDataNodeIsNamed() throws Exception {
    DataNodeBeans before = read(own(0, 0, 0));
    status = 503;
    DataNodeUse refused = DataNodeUse.between(before, DataNodeBeans.read(address), 1);
    assertThat(refused.error()).isEqualTo("after the job: HTTP status 503");
    server.stop(0);
    DataNodeUse gone = DataNodeUse.between(DataNodeBeans.read(address), before, 1);
    assertThat(gone.error()).startsWith("before the job: ");
    assertThat(SimulatorUse.of(List.of(gone), 1, 1, 0).bottleneck()).isEqualTo("unknown");
  }

  @Test
  void restartedDataNodeCountsFromZero() throws Exception {
    DataNodeBeans before = read(own(9 * PS, 9, 9 << 20));
    DataNodeBeans after = read(own(PS, 1, 1 << 20));
    DataNodeUse node = DataNodeUse.between(before, after, 40);
    assertThat(node.error()).contains("restarted");
    assertThat(node.devices().get(0).readBytes()).isEqualTo(1 << 20);
  }

  @Test
  void overlappingTasksCountOnceOnTheWall() {
    TaskClock clock = new TaskClock();
    clock.ran(1000, 2000);
    clock.ran(5000, 6000);
    clock.ran(1500, 3000);
    clock.ran(2500, 2600);
    assertThat(clock.wallSeconds()).isCloseTo(3, within(1e-9));
    clock.ran(500, 7000);
    assertThat(clock.wallSeconds()).isCloseTo(6.5, within(1e-9));
  }

  private DataNodeBeans read(String... beans) throws InterruptedException {
    answer = "{\"beans\":[" + String.join(",", beans) + "]}";
    DataNodeBeans read = DataNodeBeans.read(address);
    assertThat(read.error()).isNull();
    return read;
  }

  private static String own(long activePs, long waitNs, long bytes) {
    return bean(
        "MeldVolume-a",
        OWN,
        Map.of(
            "now_ps", activePs,
            "active_ps", activePs,
            "read_active_ps", activePs,
            "reader_wait_ns", waitNs,
            "read_commands", bytes >> 16,
            "host_read_bytes", bytes,
            "dies", 64L,
            "channels", 8L));
  }

  private static String shared(long activePs, long bytes) {
    return bean(
        "MeldDevice-ssd-a",
        "'Device':'ssd','Volumes':['/data/1','/data/2']",
        Map.of(
            "now_ps", activePs,
            "active_ps", activePs,
            "read_active_ps", activePs,
            "read_commands", bytes >> 16,
            "host_read_bytes", bytes));
  }

  private static String volume(String path, long waitNs) {
    return bean(
        "MeldVolume-" + path.replace('/', '-'),
        "'Volume':'" + path + "','Device':'ssd'",
        Map.of("reader_wait_ns", waitNs, "hints_none", 1L));
  }

  private static String traceBean() {
    return "{\"name\":\"Hadoop:service=DataNode,name=MeldTrace-a\",\"Recording\":false}";
  }

  private static String bean(String name, String attributes, Map<String, Long> counters) {
    StringBuilder list = new StringBuilder();
    counters.forEach(
        (key, value) ->
            list.append(list.isEmpty() ? "" : ",")
                .append("{'key':'" + key + "','value':" + value + "}"));
    return ("{'name':'Hadoop:service=DataNode,name="
            + name
            + "','Profile':'melded-tlc-8x8','Mode':'real-time','TimeDilation':40.0,'Healthy':true,"
            + attributes
            + ",'Counters':["
            + list
            + "]}")
        .replace('\'', '"');
  }
}
