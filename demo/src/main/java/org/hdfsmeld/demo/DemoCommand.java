package org.hdfsmeld.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.hdfsmeld.demo.process.Cleanup;
import org.hdfsmeld.demo.process.Terminal;
import org.hdfsmeld.demo.process.Workspace;
import org.hdfsmeld.spark.cli.BuildInfo;
import org.hdfsmeld.spark.cli.RootCause;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The frame of a demo: a workspace that is there while it runs and gone afterwards. */
@Command(
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false,
    showDefaultValues = true,
    usageHelpWidth = 100)
abstract class DemoCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  final PrintStream out;
  final PrintStream err;

  /** What is done in the workspace; what it starts, it adds to the cleanup. */
  interface Work {
    int run(Workspace workspace, Cleanup cleanup) throws Exception;
  }

  DemoCommand(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /**
   * Does the work; 1 if it failed, with its log kept.
   *
   * @param parent where the workspace is made
   * @param keep whether it stays
   */
  final int inWorkspace(Path parent, long neededBytes, boolean keep, Work work) throws IOException {
    Workspace workspace;
    try {
      workspace = Workspace.below(parent, neededBytes);
    } catch (Workspace.UnusableException e) {
      throw bad(e.getMessage());
    }
    workspace.announce();
    try (Cleanup cleanup = new Cleanup(() -> err.println("\ndemo: stopping, cleaning up"))) {
      if (!keep) {
        cleanup.add(workspace::delete);
      }
      try {
        workspace.create();
        return work.run(workspace, cleanup);
      } catch (ParameterException e) {
        throw e;
      } catch (Exception e) {
        cleanup.ifInterruptedAwaitHalt();
        LoggerFactory.getLogger(getClass()).error("the demo failed", e);
        // A remote exception's message has the remote stack trace in it.
        String message = RootCause.message(e).strip().lines().findFirst().orElseThrow();
        err.println("demo: " + message);
        err.println("demo: the log is " + workspace.keepLog());
        return 1;
      }
    }
  }

  final Terminal terminal(int stages) {
    return new Terminal(err, Terminal.isTerminal(), stages);
  }

  final ParameterException bad(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
