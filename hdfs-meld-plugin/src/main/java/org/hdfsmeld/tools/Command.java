package org.hdfsmeld.tools;

import java.io.PrintStream;
import java.util.Collections;
import java.util.List;
import java.util.StringTokenizer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.functional.BiFunctionRaisingIOE;

/**
 * One command of {@code hdfs meld}, with the dash and such arguments as {@code <path>}. The action
 * gives the exit code; what it throws, the caller says.
 */
record Command(
    String name,
    String arguments,
    String help,
    BiFunctionRaisingIOE<Context, List<String>, Integer> action) {
  static final int OK = 0;
  static final int USAGE = 1;
  static final int FAILED = 2;

  /** What its output goes to, and what it is configured with. */
  record Context(Configuration conf, PrintStream out, PrintStream err) {}

  /** Whether there are as many arguments as it takes; those in brackets may be left out. */
  boolean takes(int count) {
    List<Object> all = Collections.list(new StringTokenizer(arguments));
    long needed = all.stream().filter(argument -> !argument.toString().startsWith("[")).count();
    return needed <= count && count <= all.size();
  }

  String usage() {
    return ("[" + name + " " + arguments).trim() + "]";
  }
}
