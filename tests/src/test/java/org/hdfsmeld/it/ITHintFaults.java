package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.server.namenode.MeldRpcServers;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.util.ServicePlugin;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.ReadPatternProtocolPB;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A NameNode's service that is slow, or talks nonsense: writes go on by size, without delay. */
class ITHintFaults {
  private static final Path FILE = new Path("/file");
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES;

  private static volatile BytesService.Handler handler;

  /** In place of the service: answers with {@link #handler}. */
  public static final class FaultyService implements ServicePlugin {
    @Override
    public void start(Object service) {
      NameNode nameNode = (NameNode) service;
      BytesService methods =
          new BytesService(
              ReadPatternProtocolPB.class,
              Map.of("readPatterns", (request, response) -> handler.handle(request, response)));
      for (RPC.Server server : MeldRpcServers.of(nameNode)) {
        methods.addTo(server, nameNode.getConf());
      }
    }

    @Override
    public void stop() {}

    @Override
    public void close() {}
  }

  private MeldCluster cluster;

  @AfterEach
  void stop() {
    cluster.close();
  }

  private void start(BytesService.Handler faulty) {
    handler = faulty;
    cluster =
        MeldCluster.builder().set("dfs.namenode.plugins", FaultyService.class.getName()).start();
  }

  private void assertWritesGoOn() throws IOException {
    byte[] bytes = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
    Content.assertSame(cluster.fileSystem(), FILE, bytes);
    assertThat(Volumes.total("hints_full_block")).isEqualTo(2);
    assertThat(Volumes.total("errors")).isZero();
  }

  private long counted(String counter) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);
    ToolRunner.run(
        new Configuration(cluster.fileSystem().getConf()),
        new MeldAdmin(printed, printed),
        new String[] {"-report"});
    String text = out.toString(StandardCharsets.UTF_8);
    Matcher value = Pattern.compile("Hints: .*\\b" + counter + " (\\d+)").matcher(text);
    assertThat(value.find()).as(text).isTrue();
    return Long.parseLong(value.group(1));
  }

  @Test
  void aServiceThatDoesNotAnswerDelaysNobody() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    AtomicInteger answered = new AtomicInteger();
    start(
        (request, response) -> {
          try {
            never.await(1, TimeUnit.MINUTES);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          answered.incrementAndGet();
        });
    try {
      assertWritesGoOn();
      assertThat(answered).as("questions that somebody has waited for").hasValue(0);
      assertThat(counted("breaker_open")).isEqualTo(1);
      await().until(() -> counted("failures") > 0);
    } finally {
      never.countDown();
    }
  }

  @Test
  void nonsenseIsNoHint() throws Exception {
    start((request, response) -> response.write(Content.random(2, 1000)));
    assertWritesGoOn();
    assertThat(counted("failures")).isPositive();
    assertThat(counted("breaker_open")).isEqualTo(1);
  }

  @Test
  void aServiceThatFailsIsNotAskedByEachWrite() throws Exception {
    start(
        (request, response) -> {
          throw new IllegalStateException("out of order");
        });
    assertWritesGoOn();
    assertThat(counted("failures")).isPositive();
  }
}
