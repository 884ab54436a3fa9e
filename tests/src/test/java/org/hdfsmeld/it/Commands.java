package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ToolRunner;
import org.assertj.core.api.ThrowingConsumer;
import org.hdfsmeld.rpc.MeldDatanode;
import org.hdfsmeld.tools.MeldAdmin;

/** The command lines, as their users have them. */
final class Commands {
  private Commands() {}

  /** The administrator's command: its exit code. */
  static int meld(MeldCluster cluster, String... arguments) throws Exception {
    return ToolRunner.run(
        new Configuration(cluster.fileSystem().getConf()),
        new MeldAdmin(System.out, System.err),
        arguments);
  }

  /** What somebody who is no superuser finds when he asks a DataNode as the command does. */
  static void asStranger(MeldCluster cluster, ThrowingConsumer<MeldDatanode> found)
      throws Exception {
    PrivilegedExceptionAction<Void> ask =
        () -> {
          try (MeldDatanode dataNode =
              new MeldDatanode(
                  new Configuration(cluster.fileSystem().getConf()),
                  new InetSocketAddress(
                      "127.0.0.1", cluster.hdfs().getDataNodes().get(0).getIpcPort()))) {
            found.accept(dataNode);
          }
          return null;
        };
    UserGroupInformation.createRemoteUser("mallory").doAs(ask);
  }

  /** The simulator's command, which Maven has built beside the library: what it says. */
  static String meldsim(String... arguments) throws IOException, InterruptedException {
    Path program = Path.of("../native-sim/target/release/meldsim");
    assertThat(program).isExecutable();
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  /** The number in what was said that the pattern's group is. */
  static double number(String said, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(said);
    assertThat(matcher.find()).as("%s in: %s", pattern, said).isTrue();
    return Double.parseDouble(matcher.group(1));
  }
}
