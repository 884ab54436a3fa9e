package org.hdfsmeld.tools;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code hdfs meld}: says how files will be read, and shows what came of it.
 *
 * <p>Messages and exit codes are as those of {@code hdfs storagepolicies}: 0 when done, 1 when
 * called wrongly, 2 when it could not be done.
 */
public final class MeldAdmin extends Configured implements Tool {
  private static final List<Command> COMMANDS =
      List.of(
          ReadPatternCommand.SET,
          ReadPatternCommand.GET,
          ReadPatternCommand.UNSET,
          ExplainCommand.EXPLAIN,
          ReportCommand.REPORT,
          RecordingCommand.TRACES,
          RecordingCommand.TIMELINES);

  private final PrintStream out;
  private final PrintStream err;

  public MeldAdmin(PrintStream out, PrintStream err) {
    super(new HdfsConfiguration());
    this.out = out;
    this.err = err;
  }

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new MeldAdmin(System.out, System.err), args));
  }

  @Override
  public int run(String[] args) {
    if (args.length == 0) {
      printUsage();
      return Command.USAGE;
    }
    List<String> arguments = Arrays.asList(args).subList(1, args.length);
    if (args[0].equals("-help")) {
      return help(arguments);
    }
    Command command = command(args[0]);
    if (command == null) {
      err.println("Can't understand command '" + args[0] + "'");
      if (!args[0].startsWith("-")) {
        err.println("Command names must start with dashes.");
      }
      printUsage();
      return Command.USAGE;
    }
    if (!command.takes(arguments.size())) {
      err.println("Usage: hdfs meld " + command.usage());
      return Command.USAGE;
    }
    try {
      return command.action().apply(new Command.Context(getConf(), out, err), arguments);
    } catch (FileNotFoundException e) {
      err.println("File/Directory does not exist: " + firstLine(e));
      return Command.FAILED;
    } catch (IOException | IllegalArgumentException e) {
      err.println(e.getClass().getSimpleName() + ": " + firstLine(e));
      return Command.FAILED;
    }
  }

  private int help(List<String> names) {
    List<Command> wanted = COMMANDS;
    if (!names.isEmpty()) {
      Command found = command("-" + names.get(0));
      if (found == null) {
        err.println("Unknown command '" + names.get(0) + "'.");
        printUsage();
        return Command.USAGE;
      }
      wanted = List.of(found);
    }
    for (Command command : wanted) {
      out.println(command.usage());
      out.println("    " + command.help());
    }
    return Command.OK;
  }

  /** The command of that name, or null. */
  private static Command command(String name) {
    return COMMANDS.stream().filter(it -> it.name().equals(name)).findFirst().orElse(null);
  }

  private void printUsage() {
    err.println("Usage: hdfs meld [COMMAND]");
    for (Command command : COMMANDS) {
      err.println("          " + command.usage());
    }
    err.println("          [-help <command-name>]");
    ToolRunner.printGenericCommandUsage(err);
  }

  /** A message of the NameNode goes on with its stack trace. */
  static String firstLine(Exception e) {
    return e.getMessage() == null ? "no reason given" : e.getMessage().split("\n", 2)[0];
  }
}
