package org.hdfsmeld.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The demo as a user starts it: its own JVM, with the arguments file that the build wrote. */
final class DemoProcess {
  private static final long TIMEOUT_MINUTES = 5;
  private static final long SIGINT_MASK = 1L << 1;

  private final Process process;
  private final BufferedReader output;
  private final List<String> lines = new ArrayList<>();

  private DemoProcess(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static DemoProcess start(Path directory, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + Path.of("target", "java.args").toAbsolutePath());
    command.add(Demo.class.getName());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    return new DemoProcess(process);
  }

  /** Reads on until a line is as wished; fails at the end of the output. */
  void awaitLine(Predicate<String> wished) throws IOException {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      lines.add(line);
      if (wished.test(line)) {
        return;
      }
    }
    throw new AssertionError("the demo ended early:\n" + output());
  }

  /** Ctrl-C; where whoever runs the tests has it ignored, children cannot see it: then SIGTERM. */
  void interrupt() throws Exception {
    String signal = isSigintIgnored() ? "TERM" : "INT";
    // The shell's own kill: a minimal machine has no program of that name.
    String kill = "kill -s " + signal + " " + process.pid();
    new ProcessBuilder("sh", "-c", kill).start().waitFor();
  }

  /** Waits for the end and returns the exit code. */
  int waitFor() throws Exception {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      lines.add(line);
    }
    if (!process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new AssertionError("the demo did not end:\n" + output());
    }
    return process.exitValue();
  }

  String output() {
    return String.join("\n", lines);
  }

  private static boolean isSigintIgnored() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .map(line -> Long.parseUnsignedLong(line.substring("SigIgn:".length()).strip(), 16))
        .anyMatch(mask -> (mask & SIGINT_MASK) != 0);
  }
}
