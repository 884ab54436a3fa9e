package org.hdfsmeld.tools;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/** One command of {@code hdfs meld}. */
interface Command {
  /** Done. */
  int OK = 0;

  /** It was not called as it should be. */
  int USAGE = 1;

  /** It could not be done. */
  int FAILED = 2;

  /** What its output goes to, and what it is configured with. */
  record Context(Configuration conf, PrintStream out, PrintStream err) {}

  /** Its name, with the dash. */
  String name();

  /** Its arguments, such as {@code <path>}; empty for none. */
  String arguments();

  /** What it does, in a sentence or two. */
  String help();

  /**
   * Runs it.
   *
   * @param arguments as many as {@link #arguments} names
   * @return exit code
   * @throws IOException why it could not be done; the caller says so
   */
  int run(Context context, List<String> arguments) throws IOException;

  /** How many arguments are needed at least. */
  default int minArguments() {
    return maxArguments();
  }

  /** How many arguments there may be. */
  default int maxArguments() {
    return arguments().isEmpty() ? 0 : arguments().split(" ", -1).length;
  }

  /** Name and arguments. */
  default String usage() {
    return ("[" + name() + " " + arguments()).trim() + "]";
  }
}
