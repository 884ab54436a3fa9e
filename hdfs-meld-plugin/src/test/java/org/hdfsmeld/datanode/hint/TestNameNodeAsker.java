package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.StandbyException;
import org.hdfsmeld.datanode.config.HintConfiguration;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.ReadPatternProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Whose answer counts, among NameNodes of two nameservices: RPC servers, some of which are down.
 */
class TestNameNodeAsker {
  private static final String POOL = "BP-2";
  private static final BlockHint HINT =
      new BlockHint(ReadPattern.RANDOM, 4 << 20, 16_390, 16_389, 1);

  private final Configuration conf = new Configuration();
  private final List<RPC.Server> servers = new ArrayList<>();
  private final Map<String, AtomicInteger> asked = new HashMap<>();
  private NameNodeAsker asker;

  /** What a NameNode says of a block. */
  private interface Answer {
    BlockHint of(ReadPatterns.Question question) throws IOException;
  }

  private static final Answer KNOWS = question -> HINT;

  private static final Answer KNOWS_NOT = question -> BlockHint.NONE;

  private static final Answer NOT_MINE =
      question -> {
        throw new ReadPatterns.NotMyPoolException(question.pool());
      };

  private static final Answer STANDBY =
      question -> {
        throw new StandbyException("not active");
      };

  private RPC.Server nameNode(String key, Answer answer) throws IOException {
    AtomicInteger count = new AtomicInteger();
    asked.put(key, count);
    BytesService service =
        new BytesService(
            ReadPatternProtocolPB.class,
            Map.of(
                "readPatterns",
                (in, out) -> {
                  ReadPatterns.Question question = ReadPatterns.readQuestion(in);
                  count.incrementAndGet();
                  BlockHint hint = answer.of(question);
                  ReadPatterns.writeAnswer(
                      Collections.nCopies(question.blockIds().length, hint), out);
                }));
    RPC.setProtocolEngine(conf, ReadPatternProtocolPB.class, ProtobufRpcEngine2.class);
    RPC.Server server =
        new RPC.Builder(conf)
            .setProtocol(ReadPatternProtocolPB.class)
            .setInstance(service)
            .setBindAddress("127.0.0.1")
            .setPort(0)
            .setNumHandlers(1)
            .build();
    server.start();
    servers.add(server);
    conf.set("dfs.namenode.rpc-address." + key, "127.0.0.1:" + server.getPort());
    return server;
  }

  private void down(String key) throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      conf.set("dfs.namenode.rpc-address." + key, "127.0.0.1:" + free.getLocalPort());
    }
  }

  private List<BlockHint> ask(Long... blocks) throws IOException {
    if (asker == null) {
      conf.set("dfs.nameservices", "ns1,ns2");
      asker = new NameNodeAsker(() -> conf, POOL, 10_000, true);
    }
    return asker.ask(List.of(blocks));
  }

  @AfterEach
  void stop() {
    servers.forEach(RPC.Server::stop);
  }

  @Test
  void thatThePoolIsAnothersIsNoAnswerWhileItsNameserviceIsDown() throws IOException {
    down("ns1");
    nameNode("ns2", NOT_MINE);
    assertThatThrownBy(() -> ask(1L)).hasMessageContaining("Connection refused");
    assertThatThrownBy(() -> ask()).as("nobody who counts").isInstanceOf(IOException.class);
  }

  /** Of the plugin before, which says so of a block of another pool. */
  @Test
  void thatTheBlockIsUnknownIsNoAnswerWhileTheOtherNameserviceIsDown() throws IOException {
    nameNode("ns1", KNOWS_NOT);
    down("ns2");
    assertThatThrownBy(() -> ask(1L)).hasMessageContaining("Connection refused");
    assertThat(ask()).as("somebody answers").isEmpty();
  }

  @Test
  void thatThePoolIsNobodysIsNoAnswerEither() throws IOException {
    nameNode("ns1", NOT_MINE);
    nameNode("ns2", NOT_MINE);
    assertThatThrownBy(() -> ask(1L)).isInstanceOf(ReadPatterns.NotMyPoolException.class);
  }

  @Test
  void aBlockThatAllAnswerAndNobodyKnowsIsUnknown() throws IOException {
    nameNode("ns1", KNOWS_NOT);
    nameNode("ns2", KNOWS_NOT);
    assertThat(ask(1L, 2L)).containsExactly(BlockHint.NONE, BlockHint.NONE);
  }

  @Test
  void theNameserviceThatKnowsABlockIsAskedAloneFromThenOn() throws IOException {
    RPC.Server other = nameNode("ns1", NOT_MINE);
    nameNode("ns2", question -> question.blockIds()[0] == 9 ? BlockHint.NONE : HINT);
    assertThat(ask(1L)).containsExactly(HINT);
    other.stop();
    assertThat(ask(9L)).as("it does not know it").containsExactly(BlockHint.NONE);
    assertThat(ask(2L)).containsExactly(HINT);
    assertThat(asked.get("ns1")).hasValue(1);
  }

  @Test
  void aNameserviceThatIsDownIsNotInTheWayOfAnother() throws IOException {
    down("ns1");
    nameNode("ns2", KNOWS);
    assertThat(ask(1L)).containsExactly(HINT);
  }

  @Test
  void whatIsKnownOfThePoolOutlivesAFailure() throws IOException {
    nameNode("ns1", KNOWS_NOT);
    RPC.Server owner = nameNode("ns2", KNOWS);
    assertThat(ask(1L)).containsExactly(HINT);
    owner.stop();
    assertThatThrownBy(() -> ask(1L)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> ask(1L)).isInstanceOf(IOException.class);
    assertThat(asked.get("ns1")).as("before the owner was known").hasValue(1);
  }

  /** As {@code dfsadmin -refreshNamenodes} does. */
  @Test
  void aNameserviceThatIsAddedIsAskedToo() throws IOException {
    nameNode("ns1", NOT_MINE);
    conf.set("dfs.nameservices", "ns1");
    AtomicReference<Configuration> present = new AtomicReference<>(new Configuration(conf));
    asker = new NameNodeAsker(present::get, POOL, 10_000, true);
    assertThatThrownBy(() -> ask(1L)).isInstanceOf(IOException.class);
    nameNode("ns2", KNOWS);
    conf.set("dfs.nameservices", "ns1,ns2");
    present.set(conf);
    assertThat(ask(1L)).containsExactly(HINT);
  }

  @Test
  void withoutFederationTheOnlyNameserviceIsThePools() throws IOException {
    RPC.Server only = nameNode("only", KNOWS_NOT);
    conf.set("dfs.namenode.rpc-address", "127.0.0.1:" + only.getPort());
    asker = new NameNodeAsker(() -> conf, POOL, 10_000, true);
    assertThat(ask(1L)).containsExactly(BlockHint.NONE);
  }

  @Test
  void ofAnHaPairTheActiveOneAnswers() throws IOException {
    conf.set("dfs.ha.namenodes.ns2", "nn1,nn2");
    nameNode("ns1", NOT_MINE);
    nameNode("ns2.nn1", STANDBY);
    nameNode("ns2.nn2", KNOWS);
    assertThat(ask(1L)).containsExactly(HINT);
    assertThat(ask(2L)).containsExactly(HINT);
    assertThat(asked.get("ns2.nn1")).hasValue(1);
  }

  /** Each pool has a breaker of its own. */
  @Test
  void aNameserviceThatFailsKeepsNoBlockOfAnotherFromItsHint() throws IOException {
    nameNode(
        "ns1",
        question -> {
          throw new IOException("failing");
        });
    nameNode(
        "ns2",
        question -> {
          if (question.pool().equals(POOL)) {
            return HINT;
          }
          throw new ReadPatterns.NotMyPoolException(question.pool());
        });
    conf.set("dfs.nameservices", "ns1,ns2");
    HintConfiguration config = new HintConfiguration(TimeUnit.SECONDS.toNanos(30), 64);
    try (HintSource hints = NameNodeAsker.of(() -> conf, config, true, "federation")) {
      hints.serve("BP-1");
      await().until(() -> hints.counters().get("breaker_open") == 1);
      assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
      assertThat(hints.of(POOL, 1)).isEqualTo(HINT);
      assertThat(hints.counters()).containsEntry("breaker_open", 1L).containsEntry("asked", 2L);
    }
  }
}
