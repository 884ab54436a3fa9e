package org.hdfsmeld.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The profile as Hadoop's scripts use it: sourced, then called for the subcommand's class. */
class TestShellProfile {
  private static String bash(String program) throws IOException, InterruptedException {
    String script =
        """
        set -eu
        HADOOP_SHELL_EXECNAME=%s
        function hadoop_add_subcommand { echo "usage: $1 ($2) $3"; }
        . src/main/shellprofile.d/meld.sh
        . src/main/shellprofile.d/meld.sh
        hdfs_subcommand_meld -report
        echo "class: ${HADOOP_CLASSNAME}"
        """
            .formatted(program);
    Process process = new ProcessBuilder("bash", "-c", script).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output;
  }

  @Test
  void hdfsGetsASubcommand() throws Exception {
    assertThat(bash("hdfs"))
        .isEqualTo(
            "usage: meld (admin) read patterns and their layout on simulated devices\n"
                + "class: "
                + MeldAdmin.class.getName()
                + "\n");
  }

  @Test
  void otherCommandsDoNotShowIt() throws Exception {
    assertThat(bash("yarn")).doesNotContain("usage:");
  }
}
