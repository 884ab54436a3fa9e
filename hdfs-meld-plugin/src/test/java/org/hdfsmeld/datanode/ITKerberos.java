package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolPB;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.namenode.ReadPatternService;
import org.hdfsmeld.record.RecordKind;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.MeldDatanode;
import org.hdfsmeld.rpc.MeldRpc;
import org.hdfsmeld.rpc.ReadPatternProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster with Kerberos: who gets hints, who sets patterns, who has traces. */
class ITKerberos {
  private static final int BLOCK_BYTES = 4 << 20;
  private static final org.apache.hadoop.fs.Path TABLE = new org.apache.hadoop.fs.Path("/table");

  @TempDir static Path dir;

  private static MiniKdc kdc;
  private static MiniDFSCluster cluster;
  private static UserGroupInformation superuser;

  /** Has a ticket, and nothing else. */
  private static UserGroupInformation alice;

  @BeforeAll
  static void start() throws Exception {
    kdc = new MiniKdc(MiniKdc.createConf(), dir.resolve("kdc").toFile());
    kdc.start();
    // NameNode and DataNode are one user: there is one login in a JVM.
    String host = InetAddress.getLoopbackAddress().getCanonicalHostName();
    File servers = dir.resolve("servers.keytab").toFile();
    File users = dir.resolve("users.keytab").toFile();
    kdc.createPrincipal(servers, "hdfs/" + host, "HTTP/" + host);
    kdc.createPrincipal(users, "alice");
    String realm = "@" + kdc.getRealm();

    Configuration conf = new HdfsConfiguration();
    SecurityUtil.setAuthenticationMethod(AuthenticationMethod.KERBEROS, conf);
    UserGroupInformation.setConfiguration(conf);
    for (String daemon : List.of("namenode", "datanode")) {
      conf.set("dfs." + daemon + ".kerberos.principal", "hdfs/" + host + realm);
      conf.set("dfs." + daemon + ".keytab.file", servers.getPath());
    }
    conf.set("dfs.web.authentication.kerberos.principal", "HTTP/" + host + realm);
    conf.set("dfs.web.authentication.kerberos.keytab", servers.getPath());
    conf.set("dfs.block.access.token.enable", "true");
    conf.set("dfs.data.transfer.protection", "authentication");
    // In place of certificates for HTTPS, of which nothing is tested.
    conf.set("ignore.secure.ports.for.testing", "true");
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, dir.resolve("cluster").toString());
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
    conf.set("dfs.datanode.fsdataset.factory", MeldFsDatasetFactory.class.getName());
    conf.set("dfs.namenode.plugins", ReadPatternService.class.getName());
    conf.set(MeldKeys.HINT_TIMEOUT, "30s");
    conf.set("dfs.datanode.meld.trace.dir", dir.resolve("traces").toString());
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
    cluster.waitActive();
    superuser = login("hdfs/" + host + realm, servers);
    alice = login("alice" + realm, users);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
    kdc.stop();
    UserGroupInformation.reset();
    UserGroupInformation.setConfiguration(new Configuration());
  }

  private static UserGroupInformation login(String principal, File keytab) throws IOException {
    return UserGroupInformation.loginUserFromKeytabAndReturnUGI(principal, keytab.getPath());
  }

  private static Configuration conf() {
    return new Configuration(cluster.getConfiguration(0));
  }

  /** What {@code hdfs meld} prints, and with which code it ends. */
  private static String meld(UserGroupInformation user, String... arguments) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);
    PrivilegedExceptionAction<Integer> command =
        () -> ToolRunner.run(conf(), new MeldAdmin(printed, printed), arguments);
    int code = user.doAs(command);
    return code + " " + out.toString(StandardCharsets.UTF_8);
  }

  /** Asks the NameNode as a DataNode would. */
  private static List<BlockHint> ask(Configuration conf, InetSocketAddress nameNode, Class<?> over)
      throws IOException {
    try (MeldRpc<ReadPatternProtocolPB> rpc =
        new MeldRpc<>(conf, over, ReadPatternProtocolPB.class, nameNode, 30_000)) {
      return rpc.call(
          ReadPatternProtocolPB::readPatterns,
          out -> ReadPatterns.writeQuestion(new ReadPatterns.Question("", new long[] {1}), out),
          in -> ReadPatterns.readAnswer(1, in));
    }
  }

  private static List<BlockHint> ask(UserGroupInformation user, Class<?> over) throws Exception {
    PrivilegedExceptionAction<List<BlockHint>> question =
        () -> ask(conf(), cluster.getNameNode().getNameNodeAddress(), over);
    return user.doAs(question);
  }

  @Test
  void aDataNodeGetsHintsWithItsKeytab() throws Exception {
    PrivilegedExceptionAction<Void> write =
        () -> {
          org.apache.hadoop.fs.Path hinted = new org.apache.hadoop.fs.Path("/hinted");
          cluster.getFileSystem().mkdirs(hinted);
          assertThat(meld(superuser, "-setReadPattern", "random", "/hinted")).startsWith("0 ");
          try (FSDataOutputStream out =
              cluster.getFileSystem().create(new org.apache.hadoop.fs.Path(hinted, "file"))) {
            out.write(new byte[2 * BLOCK_BYTES]);
          }
          return null;
        };
    superuser.doAs(write);
    assertThat(meld(superuser, "-explain", "/hinted/file"))
        .startsWith("0 ")
        .contains("random, explicit (user.meld.read-pattern of its directory)");
    assertThat(ask(superuser, DatanodeProtocolPB.class)).hasSize(1);
  }

  @Test
  void aTicketOfNoDataNodeGetsNone() {
    for (Class<?> over : List.of(DatanodeProtocolPB.class, ClientNamenodeProtocolPB.class)) {
      assertThatThrownBy(() -> ask(alice, over))
          .hasMessageContaining("alice")
          .hasMessageContaining("is no DataNode: dfs.datanode.kerberos.principal");
    }
  }

  /** In a JVM without security, which would say anything of itself. */
  @Test
  void aClientWithoutKerberosIsRefused() throws Exception {
    Path said = dir.resolve("said");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                ITKerberos.class.getName(),
                Integer.toString(cluster.getNameNodePort()))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(process.waitFor()).as(said.toString()).isZero();
    assertThat(said)
        .content()
        .contains("SIMPLE authentication is not enabled")
        .doesNotContain("answered");
  }

  /** The client without Kerberos. */
  public static void main(String[] arguments) throws Exception {
    InetSocketAddress nameNode = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    PrivilegedExceptionAction<List<BlockHint>> question =
        () -> ask(new Configuration(), nameNode, DatanodeProtocolPB.class);
    try {
      System.out.println(
          "answered: " + UserGroupInformation.createRemoteUser("hdfs").doAs(question));
    } catch (IOException e) {
      System.out.println(e);
    }
    System.exit(0);
  }

  @Test
  void whoMayNotWriteSetsNoPattern() throws Exception {
    PrivilegedExceptionAction<Boolean> create = () -> cluster.getFileSystem().mkdirs(TABLE);
    superuser.doAs(create);
    assertThat(meld(alice, "-setReadPattern", "random", "/table"))
        .doesNotStartWith("0 ")
        .contains("Permission denied");
    assertThat(meld(superuser, "-getReadPattern", "/table")).contains("unspecified");
    assertThat(meld(superuser, "-setReadPattern", "sequential", "/table")).startsWith("0 ");
    assertThat(meld(alice, "-unsetReadPattern", "/table"))
        .doesNotStartWith("0 ")
        .contains("Permission denied");
    assertThat(meld(alice, "-getReadPattern", "/table")).contains("sequential");
  }

  @Test
  void whoMayNotReadABlockDoesNotLearnItsLayout() throws Exception {
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/explained");
    PrivilegedExceptionAction<ExtendedBlock> write =
        () -> {
          try (FSDataOutputStream out = cluster.getFileSystem().create(path)) {
            out.write(new byte[2 * BLOCK_BYTES]);
          }
          return DFSTestUtil.getFirstBlock(cluster.getFileSystem(), path);
        };
    ExtendedBlock block = superuser.doAs(write);
    assertThat(meld(alice, "-explain", "/explained")).startsWith("0 ").contains("full_block");
    PrivilegedExceptionAction<Void> hide =
        () -> {
          cluster.getFileSystem().setPermission(path, new FsPermission("600"));
          return null;
        };
    superuser.doAs(hide);
    assertThat(meld(alice, "-explain", "/explained"))
        .startsWith("2 ")
        .contains("Permission denied");
    assertThat(meld(superuser, "-explain", "/explained")).startsWith("0 ").contains("full_block");
    PrivilegedExceptionAction<List<BlockLayout>> guess =
        () -> {
          try (MeldDatanode dataNode = dataNode()) {
            return dataNode.blockLayouts(
                block.getBlockPoolId(), new long[] {block.getBlockId()}, List.of(new Token<>()));
          }
        };
    assertThatThrownBy(() -> alice.doAs(guess))
        .isInstanceOf(AccessControlException.class)
        .hasMessageContaining("READ access of " + block.getBlockName())
        .hasMessageContaining("alice");
    assertThat(superuser.doAs(guess)).hasSize(1);
  }

  private static MeldDatanode dataNode() throws IOException {
    int port = cluster.getDataNodes().get(0).getIpcPort();
    return new MeldDatanode(conf(), new InetSocketAddress("127.0.0.1", port));
  }

  @Test
  void onlyTheSuperuserHasTraces() throws Exception {
    String folder = dir.resolve("fetched").toString();
    assertThat(meld(superuser, "-trace", "start")).startsWith("0 ");
    PrivilegedExceptionAction<Void> snoop =
        () -> {
          try (MeldDatanode dataNode = dataNode()) {
            assertThatThrownBy(() -> dataNode.status(RecordKind.TRACE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.read(RecordKind.TRACE, "any", 0))
                .hasMessageContaining("Superuser");
          }
          return null;
        };
    alice.doAs(snoop);
    assertThat(meld(superuser, "-trace", "stop")).startsWith("0 ");
    assertThat(meld(superuser, "-trace", "fetch", folder)).startsWith("0 ");
  }
}
