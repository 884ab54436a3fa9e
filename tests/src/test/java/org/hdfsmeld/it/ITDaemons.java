package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.net.NetUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A NameNode and a DataNode as a cluster has them: processes of their own, started by Hadoop's main
 * classes, with the plugin in their configuration files and nothing else of ours.
 */
class ITDaemons {
  /** {@code ./meld compatibility} gives what a Hadoop of one version has, and the plugin's jar. */
  private static final String CLASS_PATH =
      System.getProperty("meld.daemons.path", System.getProperty("java.class.path"));

  private static final String NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode";
  private static final String DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode";

  private static final int NATIVE_ACCESS_SINCE = 22;
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES;

  /** Exit code of a process that was asked to end, by SIGTERM. */
  private static final int TERMINATED = 128 + 15;

  private static final org.apache.hadoop.fs.Path FILE =
      new org.apache.hadoop.fs.Path("/table/file");

  /** With its logs when it fails. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path directory;

  private Configuration configure() throws IOException {
    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", "hdfs://127.0.0.1:" + NetUtils.getFreeSocketPort());
    core.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    Configuration hdfs = new Configuration(false);
    hdfs.set("dfs.namenode.http-address", "127.0.0.1:0");
    for (String address : List.of("address", "ipc.address", "http.address")) {
      hdfs.set("dfs.datanode." + address, "127.0.0.1:0");
    }
    hdfs.set("dfs.replication", "1");
    hdfs.set("dfs.blocksize", Integer.toString(MeldCluster.BLOCK_BYTES));
    hdfs.set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService");
    hdfs.set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
    hdfs.set("dfs.datanode.meld.hint.timeout", "30s");
    write("core-site.xml", core);
    write("hdfs-site.xml", hdfs);
    Files.writeString(
        directory.resolve("log4j.properties"),
        """
        log4j.rootLogger=INFO,console
        log4j.appender.console=org.apache.log4j.ConsoleAppender
        log4j.appender.console.layout=org.apache.log4j.PatternLayout
        log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
        """);
    // Of a distribution's class path these pages are in no jar that is published.
    for (String pages : List.of("hdfs", "datanode", "static")) {
      Files.createDirectories(directory.resolve("webapps").resolve(pages));
    }
    core.addResource(hdfs);
    return core;
  }

  private void write(String file, Configuration conf) throws IOException {
    try (OutputStream out = Files.newOutputStream(directory.resolve(file))) {
      conf.writeXml(out);
    }
  }

  private Process start(String log, String mainClass, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.net.preferIPv4Stack=true");
    // What a second compiler would gain comes after the test.
    command.add("-XX:TieredStopAtLevel=1");
    if (Runtime.version().feature() >= NATIVE_ACCESS_SINCE) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", directory + ":" + CLASS_PATH, mainClass));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log(log)))
        .start();
  }

  private File log(String name) {
    return directory.resolve(name + ".log").toFile();
  }

  private String said(String log) throws IOException {
    return Files.readString(log(log).toPath());
  }

  /** Runs a program of Hadoop or of the plugin to its end. */
  private String run(String log, String mainClass, String... arguments) throws Exception {
    Process process = start(log, mainClass, arguments);
    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as(mainClass).isTrue();
    assertThat(process.exitValue()).as(said(log)).isZero();
    return said(log);
  }

  private void stop(Process daemon, String log) throws Exception {
    daemon.destroy();
    assertThat(daemon.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as(said(log)).isTrue();
    assertThat(daemon.exitValue()).as(said(log)).isEqualTo(TERMINATED);
  }

  /** Waits for a DataNode at another address than the one before, and returns its address. */
  private static String awaitDataNode(DistributedFileSystem files, String before) {
    return await()
        .atMost(PATIENCE)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () ->
                Stream.of(files.getDataNodeStats())
                    .map(DatanodeInfo::getXferAddr)
                    .findFirst()
                    .orElse(before),
            address -> !address.equals(before));
  }

  @Test
  void serveAsInACluster() throws Exception {
    Configuration conf = configure();
    run("format", NAME_NODE, "-format", "-nonInteractive");
    Process nameNode = start("namenode", NAME_NODE);
    Process dataNode = start("datanode", DATA_NODE);
    try (DistributedFileSystem files = new DistributedFileSystem()) {
      files.initialize(URI.create(conf.get("fs.defaultFS")), conf);
      String address = awaitDataNode(files, "");
      files.mkdirs(FILE.getParent());
      run("set", "org.hdfsmeld.tools.MeldAdmin", "-setReadPattern", "random", "/table");
      byte[] bytes = Content.write(files, FILE, 1, FILE_BYTES);
      Content.assertSame(files, FILE, bytes);
      assertThat(run("report", "org.hdfsmeld.tools.MeldAdmin", "-report"))
          .contains("melded-tlc-8x8, account, in service")
          .contains("Hints: asked ", "explicit 2,")
          .contains("written " + FILE_BYTES + "; fallbacks 0, errors 0, timeouts 0");

      stop(dataNode, "datanode");
      dataNode = start("datanode", DATA_NODE);
      awaitDataNode(files, address);
      Content.assertSame(files, FILE, bytes);
      assertThat(run("again", "org.hdfsmeld.tools.MeldAdmin", "-report"))
          .contains("in service", "fallbacks 0, errors 0, timeouts 0");

      stop(dataNode, "datanode");
      stop(nameNode, "namenode");
    } finally {
      dataNode.destroyForcibly();
      nameNode.destroyForcibly();
    }
  }
}
