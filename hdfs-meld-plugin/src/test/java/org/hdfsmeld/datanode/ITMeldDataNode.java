package org.hdfsmeld.datanode;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.namenode.ReadPatternService;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A DataNode of unshaded Hadoop with the plugin and the real simulator. What HDFS operations do is
 * tested in module {@code tests}, beside the shaded one.
 */
class ITMeldDataNode {
  private static final int BLOCK_BYTES = 8 << 20;
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");

  @TempDir Path dir;

  private MiniDFSCluster cluster;

  private FileSystem start(String... settings) throws IOException {
    cluster = new MiniDFSCluster.Builder(conf(settings)).numDataNodes(1).build();
    return cluster.getFileSystem();
  }

  private Configuration conf(String... settings) {
    Configuration conf = new HdfsConfiguration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, dir.toString());
    conf.set("dfs.datanode.fsdataset.factory", MeldFsDatasetFactory.class.getName());
    // Its thread may begin late, and reads then what the test has written.
    conf.set("dfs.block.scanner.volume.bytes.per.second", "0");
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return conf;
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    assertThat(volumes()).isEmpty();
  }

  private static List<MeldVolumeMXBean> volumes() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    List<MeldVolumeMXBean> volumes = new ArrayList<>();
    for (ObjectName name :
        server.queryNames(new ObjectName("Hadoop:service=DataNode,name=MeldVolume-*"), null)) {
      volumes.add(JMX.newMXBeanProxy(server, name, MeldVolumeMXBean.class));
    }
    return volumes;
  }

  private static long sum(String counter) throws Exception {
    long sum = 0;
    for (MeldVolumeMXBean volume : volumes()) {
      await().until(() -> volume.getCounters().get("counters_pending") == 0);
      sum += volume.getCounters().get(counter);
    }
    return sum;
  }

  private static byte[] data(int length) {
    byte[] data = new byte[length];
    new Random(1).nextBytes(data);
    return data;
  }

  private static void write(FileSystem fs, byte[] data) throws IOException {
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(data);
    }
  }

  private static byte[] read(FileSystem fs) throws IOException {
    try (FSDataInputStream in = fs.open(FILE)) {
      return in.readAllBytes();
    }
  }

  @Test
  void everyByteReachesFileAndDevice() throws Exception {
    FileSystem fs = start();
    byte[] data = data(5 * BLOCK_BYTES / 2);
    write(fs, data);
    assertThat(read(fs)).isEqualTo(data);
    assertThat(volumes()).hasSize(2).allMatch(MeldVolumeMXBean::isHealthy);
    assertThat(sum("forwarded_write_bytes")).isEqualTo(data.length);
    assertThat(sum("forwarded_read_bytes")).isEqualTo(data.length);
    assertThat(sum("host_written_bytes")).isEqualTo(data.length);
    assertThat(sum("host_read_bytes")).isEqualTo(data.length);
    assertThat(sum("hinted_blocks")).isEqualTo(3);
    assertThat(sum("errors")).isZero();
  }

  @Test
  void theNameNodeTellsHowFilesWillBeRead() throws Exception {
    FileSystem fs =
        start(
            "dfs.namenode.plugins",
            ReadPatternService.class.getName(),
            MeldKeys.HINT_TIMEOUT,
            "30s");
    fs.setXAttr(new org.apache.hadoop.fs.Path("/"), ReadPattern.XATTR, "random".getBytes(US_ASCII));
    write(fs, data(2 * BLOCK_BYTES));
    assertThat(sum("hints_explicit")).isEqualTo(2);
    assertThat(sum("hinted_blocks")).isZero();

    ByteArrayOutputStream out = new ByteArrayOutputStream();
    MeldAdmin meld = new MeldAdmin(new PrintStream(out, true, US_ASCII), System.err);
    assertThat(ToolRunner.run(fs.getConf(), meld, new String[] {"-explain", "/file"})).isZero();
    assertThat(out.toString(US_ASCII))
        .contains("random, explicit (user.meld.read-pattern of its directory); layout");
  }

  @Test
  void realTimeReadersWaitForMeldedFlash() throws Exception {
    FileSystem fs = start(MeldKeys.TIME_DILATION, "20");
    byte[] data = data(4 * BLOCK_BYTES);
    write(fs, data);
    for (MeldVolumeMXBean volume : volumes()) {
      volume.setMode("real-time");
    }
    assertThat(read(fs)).isEqualTo(data);
    assertThat(sum("reader_wait_ns")).isPositive();
    assertThat(sum("melded_reads")).isGreaterThan(sum("page_reads"));
    assertThat(sum("buffer_page_reads")).isZero();
    assertThat(sum("timeouts")).isZero();
  }

  @Test
  void withoutTransferToTheDeviceSeesTheSame() throws Exception {
    FileSystem fs = start("dfs.datanode.transferTo.allowed", "false");
    byte[] data = data(BLOCK_BYTES);
    write(fs, data);
    assertThat(read(fs)).isEqualTo(data);
    assertThat(sum("forwarded_read_bytes")).isEqualTo(data.length);
    assertThat(sum("read_commands")).isLessThan(20);
  }

  @Test
  void aMissingLibraryLeavesStockHdfs() throws Exception {
    FileSystem fs = start(MeldKeys.NATIVE_LIBRARY, dir.resolve("no.so").toString());
    byte[] data = data(BLOCK_BYTES);
    write(fs, data);
    assertThat(read(fs)).isEqualTo(data);
    assertThat(volumes())
        .hasSize(2)
        .noneMatch(MeldVolumeMXBean::isHealthy)
        .allMatch(v -> v.getLastError().contains(MeldKeys.NATIVE_LIBRARY));
    assertThat(sum("fallbacks")).isPositive();
  }

  @Test
  void failFastRefusesToStartWithoutTheLibrary() throws Exception {
    assertRefusesToStart(
        MeldKeys.NATIVE_LIBRARY, dir.resolve("no.so").toString(), MeldKeys.FAIL_FAST, "true");
  }

  @Test
  void anUnknownProfileRefusesToStart() throws Exception {
    assertRefusesToStart(MeldKeys.PROFILE, "melded-tlc-9x9");
  }

  private void assertRefusesToStart(String... settings) throws Exception {
    Configuration conf = conf(settings);
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(0).build();
    cluster.startDataNodes(conf, 1, true, null, null);
    DataNode datanode = cluster.getDataNodes().get(0);
    await().until(() -> !datanode.isDatanodeUp());
  }

  @Test
  @Tag("faults")
  void aPanicInTheSimulatorHurtsNobody() throws Exception {
    String library = System.getProperty("meld.testing.library", "");
    FileSystem fs = start(MeldKeys.NATIVE_LIBRARY, library);
    byte[] data = data(3 * BLOCK_BYTES);
    // All devices panic, after five calls each.
    Object[] fault = {0L, 1, 5L};
    Function inject =
        NativeLibrary.getInstance(library).getFunction("meldsim_testing_inject_fault");
    assertThat(inject.invokeInt(fault)).isZero();
    write(fs, data);
    // The commands may still be gathered; to show counters has them done, so the fault is met.
    assertThat(sum("errors")).isPositive();
    assertThat(volumes()).noneMatch(MeldVolumeMXBean::isHealthy);
    assertThat(read(fs)).isEqualTo(data);
    assertThat(sum("fallbacks")).isPositive();
  }

  /** As Prometheus would: every line of the endpoint, names and values. */
  @Test
  void prometheusSeesEveryMetricOfEachVolume() throws Exception {
    cluster = new MiniDFSCluster.Builder(conf()).numDataNodes(0).build();
    // In one JVM the first daemon has the endpoint's sink: only the DataNode may ask for it.
    Configuration conf = new Configuration(cluster.getConfiguration(0));
    conf.set("hadoop.prometheus.endpoint.enabled", "true");
    conf.set("dfs.replication", "1");
    cluster.startDataNodes(conf, 1, true, null, null);
    cluster.waitActive();
    byte[] data = data(BLOCK_BYTES);
    FileSystem fs = FileSystem.newInstance(cluster.getURI(), conf);
    write(fs, data);
    assertThat(read(fs)).isEqualTo(data);

    assertThat(sum("forwarded_read_bytes")).isEqualTo(data.length);
    int port = cluster.getDataNodes().get(0).getInfoPort();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/prom"))
            // The DataNode refuses to be asked for an upgrade.
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    // What the devices were told of is compared with it by an alert.
    assertThat(response.body()).contains("datanode_bytes_written{");
    Map<String, Double> sums = new HashMap<>();
    Pattern line = Pattern.compile("(meld_volume_[a-z0-9_]+)\\{(.*)} (\\S+)");
    for (String text : response.body().lines().filter(l -> l.startsWith("meld_volume")).toList()) {
      Matcher sample = line.matcher(text);
      assertThat(sample.matches()).as(text).isTrue();
      assertThat(sample.group(2)).contains("profile=\"melded-tlc-8x8\"", "mode=\"account\"");
      sums.merge(sample.group(1), Double.parseDouble(sample.group(3)), Double::sum);
    }
    MeldVolumeMXBean volume = volumes().get(0);
    for (String counter : volume.getCounters().keySet()) {
      assertThat(sums).containsKey("meld_volume_" + counter);
    }
    assertThat(sums)
        .containsEntry("meld_volume_healthy", 2.0)
        .containsEntry("meld_volume_forwarded_read_bytes", (double) data.length)
        .containsEntry("meld_volume_errors", 0.0)
        .containsKey("meld_volume_melded_share");
    assertThat(sums.get("meld_volume_read_latency_p50_ps")).isPositive();
    assertThat(sums.get("meld_volume_read_latency_p999_ps"))
        .isGreaterThanOrEqualTo(sums.get("meld_volume_read_latency_p50_ps"));
    assertThat(sums.get("meld_volume_write_latency_p99_ps")).isPositive();
  }
}
