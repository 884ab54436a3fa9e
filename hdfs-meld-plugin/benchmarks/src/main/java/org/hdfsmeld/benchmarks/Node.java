package org.hdfsmeld.benchmarks;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/** What a {@link NodeProcess} does with the lines of its input; it answers each with a line. */
interface Node extends AutoCloseable {
  String answer(String command) throws Exception;

  /** Serves until the input ends, and ends the JVM. */
  static void serve(Callable<Node> start) {
    PrintStream answers = System.out;
    System.setOut(System.err);
    int status = 1;
    try (Node node = start.call()) {
      answers.println("ready");
      BufferedReader commands =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      String command = commands.readLine();
      while (command != null) {
        answers.println(node.answer(command));
        command = commands.readLine();
      }
      status = 0;
    } catch (Exception e) {
      e.printStackTrace();
    }
    System.exit(status);
  }
}
