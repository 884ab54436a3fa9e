package org.hdfsmeld.benchmarks;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM that does what it is told line by line, seen from the one that measures. */
final class NodeProcess implements AutoCloseable {
  private final Process process;
  private final PrintStream commands;
  private final BufferedReader answers;
  private final File log;

  /**
   * Starts the JVM; it is ready when {@link #awaitReady} returns.
   *
   * @param arguments after the folder of an HDFS, which is the first
   */
  NodeProcess(Class<?> main, Path folder, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("-Xmx2g");
    command.add("-Xms2g");
    command.add("-XX:+AlwaysPreTouch");
    command.add("-Dslf4j.internal.verbosity=ERROR");
    command.add("-Dhadoop.tmp.dir=" + folder.resolve("tmp"));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.add(folder.resolve("hdfs").toString());
    command.addAll(List.of(arguments));
    log = folder.resolve("log").toFile();
    process = new ProcessBuilder(command).redirectError(log).start();
    commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  void awaitReady() throws IOException {
    answer();
  }

  /** Has the JVM do something and returns its answer. */
  String ask(String command) throws IOException {
    commands.println(command);
    return answer();
  }

  private String answer() throws IOException {
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException("The JVM of an HDFS ended early; " + log + " says why");
    }
    return answer;
  }

  @Override
  public void close() {
    commands.close();
    end(process);
  }

  /** Waits for a process that was asked to end, and ends it when it does not. */
  static void end(Process process) {
    try {
      process.waitFor(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
