package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;

/** A DataNode with the plugin in a JVM of its own, which can be killed or have faults. */
final class DataNodeProcess implements AutoCloseable {
  private static final String COUNTERS = "counters";
  private static final String END = "end";

  /** What time it is to the process, in milliseconds since the epoch. */
  static final String WALL_CLOCK = "wall_clock_ms";

  private static final long ANSWER_SECONDS = 60;

  private final Process process;
  private final BlockingQueue<String> output = new LinkedBlockingQueue<>();

  private DataNodeProcess(Process process) {
    this.process = process;
    // Its log comes the same way: read on, or the DataNode waits for somebody to do so.
    Thread reader = new Thread(this::collect, "datanode-output");
    reader.setDaemon(true);
    reader.start();
  }

  private void collect() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(COUNTERS) || line.equals(END)) {
          output.add(line);
        }
      }
    } catch (IOException e) {
      // It was killed.
    }
  }

  /** Starts a DataNode of the cluster with one volume. */
  static DataNodeProcess start(
      MeldCluster cluster,
      Path volume,
      Map<String, String> settings,
      Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    // Reports of a process that ends by a fault are beside its volume.
    command.add("-XX:ErrorFile=" + volume.resolveSibling("jvm-error-%p.log"));
    command.add("-XX:-CreateCoredumpOnCrash");
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(DataNodeProcess.class.getName());
    Map<String, String> all = new HashMap<>(settings);
    all.put("fs.defaultFS", cluster.hdfs().getURI().toString());
    all.put("dfs.datanode.data.dir", volume.toUri().toString());
    for (String address : List.of("address", "ipc.address", "http.address")) {
      all.put("dfs.datanode." + address, "127.0.0.1:0");
    }
    all.forEach((key, value) -> command.add(key + "=" + value));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    return new DataNodeProcess(builder.start());
  }

  /** kill -9. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** SIGTERM. */
  void terminate() {
    process.destroy();
  }

  /** Waits for it to end by itself, and returns its exit code. */
  int awaitEnd() throws InterruptedException {
    assertThat(process.waitFor(ANSWER_SECONDS, TimeUnit.SECONDS)).as("the process ended").isTrue();
    return process.exitValue();
  }

  /** The counters of its volume, and {@link #WALL_CLOCK}. */
  Map<String, Long> counters() throws IOException, InterruptedException {
    process.getOutputStream().write((COUNTERS + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    Map<String, Long> counters = new HashMap<>();
    for (String line = next(); line != null; line = next()) {
      if (line.equals(END)) {
        return counters;
      }
      String[] words = line.split(" ");
      if (words.length == 3 && words[0].equals(COUNTERS)) {
        counters.put(words[1], Long.parseLong(words[2]));
      }
    }
    throw new AssertionError("the DataNode process does not answer");
  }

  private String next() throws InterruptedException {
    return output.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }

  /** The other JVM: runs until it is killed or its input ends. */
  public static void main(String[] arguments) throws Exception {
    Configuration conf = new HdfsConfiguration();
    for (String argument : arguments) {
      String[] entry = argument.split("=", 2);
      conf.set(entry[0], entry[1]);
    }
    DataNode dataNode = DataNode.createDataNode(new String[0], conf);
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      for (ObjectName volume : Volumes.all()) {
        Volumes.counters(volume)
            .forEach((name, value) -> System.out.println(COUNTERS + " " + name + " " + value));
      }
      System.out.println(COUNTERS + " " + WALL_CLOCK + " " + System.currentTimeMillis());
      System.out.println(END);
    }
    dataNode.shutdown();
  }
}
