package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.security.token.block.BlockPoolTokenSecretManager;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier.AccessMode;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenSecretManager;
import org.apache.hadoop.hdfs.security.token.block.ExportedBlockKeys;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.BlockTokens;
import org.hdfsmeld.rpc.ReadPatterns;
import org.hdfsmeld.sim.FakeDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is said of blocks, to whom, and what it costs the DataNode. */
class TestMeldAdminService {
  private static final String POOL = "BP-1";
  private static final long BLOCK = 5;
  private static final Token<BlockTokenIdentifier> NO_TOKEN = new Token<>();
  private static final UserGroupInformation ALICE =
      UserGroupInformation.createUserForTesting("alice", new String[] {"people"});

  /** Knows the hint of block 7; to ask it for others is a mistake. */
  private static final class Known implements HintSource {
    final AtomicInteger reports = new AtomicInteger();
    volatile CountDownLatch entered = new CountDownLatch(0);
    volatile CountDownLatch leave = new CountDownLatch(0);
    volatile Runnable looking = () -> {};

    @Override
    public BlockHint known(BlockKey block) {
      entered.countDown();
      looking.run();
      FakeDevice.hang(leave).run();
      return block.id() == 7 ? new BlockHint(ReadPattern.RANDOM, 0, 1, 2, 0) : null;
    }

    /** Part of every report. */
    @Override
    public Map<String, Long> counters() {
      reports.incrementAndGet();
      entered.countDown();
      FakeDevice.hang(leave).run();
      return Map.of();
    }

    @Override
    public BlockHint of(String pool, long blockId) {
      throw new AssertionError("the NameNode is asked");
    }

    @Override
    public void ask(BlockKey block, Consumer<BlockHint> then) {
      throw new AssertionError("the NameNode is asked");
    }
  }

  private final Known hints = new Known();
  private final BlockTokenSecretManager secrets = secrets();
  private final DataNode dataNode = mock(DataNode.class);
  private final AtomicLong now = new AtomicLong();
  private final List<Long> rests = new ArrayList<>();
  private MeldVolumes volumes;
  private MeldAdminService service;

  private static BlockTokenSecretManager secrets() {
    return new BlockTokenSecretManager(60_000, 60_000, 0, 1, POOL, null, false);
  }

  @BeforeEach
  void start() throws IOException {
    BlockPoolTokenSecretManager pools = new BlockPoolTokenSecretManager();
    pools.addBlockPool(POOL, secrets);
    when(dataNode.getBlockPoolTokenSecretManager()).thenReturn(pools);
    register(secrets.exportKeys());
    Configuration conf = new Configuration();
    volumes =
        FakeDevice.volumes(MeldConfiguration.read(conf), profile -> () -> new FakeDevice(), hints);
    service = new MeldAdminService(dataNode, conf, volumes, now::get, rests::add);
  }

  @AfterEach
  void stop() {
    volumes.close();
  }

  private void register(ExportedBlockKeys keys) throws IOException {
    DatanodeRegistration registration = mock(DatanodeRegistration.class);
    when(registration.getExportedKeys()).thenReturn(keys);
    when(dataNode.getDNRegistrationForBP(POOL)).thenReturn(registration);
  }

  private static Token<BlockTokenIdentifier> token(
      BlockTokenSecretManager secrets, long block, AccessMode mode) throws IOException {
    return secrets.generateToken(
        "alice",
        new ExtendedBlock(POOL, block),
        EnumSet.of(mode),
        new StorageType[] {StorageType.DISK},
        new String[0]);
  }

  /** What the service says of a block to a user who calls it. */
  private BlockLayout layout(
      UserGroupInformation user, long block, Token<BlockTokenIdentifier> token) throws IOException {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(request);
    ReadPatterns.writeQuestion(new ReadPatterns.Question(POOL, new long[] {block}), out);
    BlockTokens.write(token, out);
    ByteArrayOutputStream response = new ByteArrayOutputStream();
    Server.Call call = mock(Server.Call.class);
    when(call.getRemoteUser()).thenReturn(user);
    Server.getCurCall().set(call);
    try {
      service.blockLayouts(
          new DataInputStream(new ByteArrayInputStream(request.toByteArray())),
          new DataOutputStream(response));
    } finally {
      Server.getCurCall().remove();
    }
    return BlockLayout.read(new DataInputStream(new ByteArrayInputStream(response.toByteArray())));
  }

  @Test
  void whoMayReadABlockIsTold() throws IOException {
    assertThat(layout(ALICE, 7, token(secrets, 7, AccessMode.READ)).pattern()).isEqualTo("random");
  }

  @Test
  void whoMayNotReadABlockIsRefused() throws IOException {
    for (Token<BlockTokenIdentifier> token :
        List.of(
            NO_TOKEN,
            token(secrets, BLOCK + 1, AccessMode.READ),
            token(secrets, BLOCK, AccessMode.WRITE),
            token(secrets(), BLOCK, AccessMode.READ))) {
      assertThatThrownBy(() -> layout(ALICE, BLOCK, token))
          .isInstanceOf(AccessControlException.class)
          .hasMessageContaining("READ access of blk_5 or superuser privilege")
          .hasMessageContaining("alice");
    }
  }

  @Test
  void theSuperuserNeedsNoToken() throws IOException {
    UserGroupInformation admin =
        UserGroupInformation.createUserForTesting("bob", new String[] {"supergroup"});
    assertThat(layout(admin, 7, NO_TOKEN).pattern()).isEqualTo("random");
    UserGroupInformation owner =
        UserGroupInformation.createUserForTesting(
            UserGroupInformation.getCurrentUser().getUserName(), new String[0]);
    assertThat(layout(owner, 7, NO_TOKEN).pattern()).isEqualTo("random");
  }

  @Test
  void whereBlocksAreReadWithoutTokensSoAreLayouts() throws IOException {
    register(ExportedBlockKeys.DUMMY_KEYS);
    assertThat(layout(ALICE, 7, NO_TOKEN).pattern()).isEqualTo("random");
  }

  @Test
  void aPoolThatIsNotServedIsRefused() throws IOException {
    when(dataNode.getDNRegistrationForBP(POOL)).thenThrow(new IOException("no such pool"));
    assertThatThrownBy(() -> layout(ALICE, 7, token(secrets, 7, AccessMode.READ)))
        .hasMessageContaining("no such pool");
  }

  @Test
  void whoAsksInALoopTakesATenthOfTheDevicesTime() throws IOException {
    for (long took : new long[] {0, 7, 1000}) {
      hints.looking = () -> now.addAndGet(TimeUnit.MILLISECONDS.toNanos(took));
      layout(ALICE, 7, token(secrets, 7, AccessMode.READ));
    }
    assertThat(rests).containsExactly(0L, 63_000_000L, 1_000_000_000L);
  }

  /** {@link Known} sees to it that nobody is asked. */
  @Test
  void nobodyIsAskedOfAnUnknownBlock() throws IOException {
    BlockLayout unknown = layout(ALICE, BLOCK, token(secrets, BLOCK, AccessMode.READ));
    assertThat(unknown.volume()).isEmpty();
    assertThat(unknown.reason()).contains("not known yet");
  }

  @Test
  void theDataNodeHasOneRequestForLayoutsAtATime() throws Exception {
    Token<BlockTokenIdentifier> token = token(secrets, 7, AccessMode.READ);
    hints.entered = new CountDownLatch(1);
    hints.leave = new CountDownLatch(1);
    ExecutorService handler = Executors.newSingleThreadExecutor();
    try {
      Future<BlockLayout> first = handler.submit(() -> layout(ALICE, 7, token));
      assertThat(hints.entered.await(1, TimeUnit.MINUTES)).isTrue();
      for (UserGroupInformation user :
          List.of(ALICE, UserGroupInformation.createRemoteUser("bob"))) {
        assertThatThrownBy(() -> layout(user, 7, token))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("ask again");
      }
      hints.leave.countDown();
      assertThat(first.get(1, TimeUnit.MINUTES).pattern()).isEqualTo("random");
      assertThat(layout(ALICE, 7, token).pattern()).isEqualTo("random");
    } finally {
      hints.leave.countDown();
      handler.shutdown();
    }
  }

  private byte[] report() throws IOException {
    ByteArrayOutputStream response = new ByteArrayOutputStream();
    service.report(
        new DataInputStream(new ByteArrayInputStream(new byte[0])), new DataOutputStream(response));
    return response.toByteArray();
  }

  @Test
  void aReportIsMadeOnceASecondHoweverOftenItIsAskedFor() throws IOException {
    for (int i = 0; i < 100; i++) {
      report();
    }
    assertThat(hints.reports.get()).isEqualTo(1);
    now.addAndGet(MeldAdminService.REPORT_AGE_NS - 1);
    report();
    assertThat(hints.reports.get()).isEqualTo(1);
    now.incrementAndGet();
    report();
    assertThat(hints.reports.get()).isEqualTo(2);
  }

  @Test
  void whileAReportIsMadeOthersGetTheOneBeforeAndDoNotWait() throws Exception {
    hints.entered = new CountDownLatch(1);
    hints.leave = new CountDownLatch(1);
    ExecutorService handler = Executors.newSingleThreadExecutor();
    try {
      Future<byte[]> first = handler.submit(this::report);
      assertThat(hints.entered.await(1, TimeUnit.MINUTES)).isTrue();
      assertThatThrownBy(this::report)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("ask again");
      hints.leave.countDown();
      byte[] made = first.get(1, TimeUnit.MINUTES);

      now.addAndGet(MeldAdminService.REPORT_AGE_NS);
      hints.entered = new CountDownLatch(1);
      hints.leave = new CountDownLatch(1);
      Future<byte[]> second = handler.submit(this::report);
      assertThat(hints.entered.await(1, TimeUnit.MINUTES)).isTrue();
      assertThat(report()).isEqualTo(made);
      hints.leave.countDown();
      second.get(1, TimeUnit.MINUTES);
    } finally {
      hints.leave.countDown();
      handler.shutdown();
    }
  }
}
