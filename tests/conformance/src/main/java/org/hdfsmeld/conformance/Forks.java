package org.hdfsmeld.conformance;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.hadoop.Folders;

/** Starts the JVMs in which tests run, one for each class and side, each in a folder of its own. */
final class Forks {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path folder;
  private final List<Path> hadoop;
  private final Duration limit;

  /**
   * Makes nothing yet.
   *
   * @param folder where logs and, while they run, the tests' files are
   * @param hadoop the jars of Hadoop, of its tests and of what they need
   * @param limit wall time after which a JVM is ended
   */
  Forks(Path folder, List<Path> hadoop, Duration limit) {
    this.folder = folder;
    this.hadoop = hadoop;
    this.limit = limit;
  }

  /** Where a run's output is. */
  Path log(String label, Side side) {
    return folder.resolve(label + "-" + side.label() + ".log");
  }

  /**
   * Runs tests and waits for them.
   *
   * @param label names the run's files
   * @param selectors class names or unique ids
   * @param timeLimits whether the limits count that tests set themselves
   */
  SideRun run(String label, Side side, List<String> selectors, boolean timeLimits)
      throws IOException, InterruptedException {
    Path work = folder.resolve("work").resolve(label + "-" + side.label());
    Folders.delete(work);
    Files.createDirectories(work);
    Path outcomes = work.resolve("outcomes.jsonl");
    Path events = work.resolve("events.json");
    List<String> command = command(side, work, timeLimits);
    command.add(outcomes.toString());
    command.add(events.toString());
    command.addAll(selectors);
    long start = System.nanoTime();
    Process process =
        new ProcessBuilder(command)
            .directory(work.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log(label, side).toFile())
            .start();
    try {
      process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
    boolean finished = Files.exists(events);
    SideRun run =
        new SideRun(
            outcomes(outcomes),
            finished
                ? JSON.readValue(events.toFile(), new TypeReference<TreeMap<String, Long>>() {})
                : Map.of(),
            finished,
            seconds);
    Folders.delete(work);
    return run;
  }

  private List<String> command(Side side, Path work, boolean timeLimits) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The opens and the network stack, as the runner itself was started.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> !argument.startsWith("-Xm"))
        .forEach(command::add);
    command.add("-Xmx3g");
    command.add("-Xss4m");
    // Many short tests: the second compiler and a parallel collector cost more than they give.
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:+UseSerialGC");
    command.add("-DminiClusterDedicatedDirs=true");
    command.add("-Dtest.build.dir=" + work);
    command.add("-Dtest.build.data=" + work.resolve("data"));
    command.add("-Dhadoop.tmp.dir=" + work.resolve("tmp"));
    command.add("-Dhadoop.log.dir=" + work.resolve("log"));
    if (side == Side.PLUGIN) {
      command.add("-Djavax.management.builder.initial=" + PluginEvents.class.getName());
    }
    if (!timeLimits) {
      command.add("-Djunit.jupiter.execution.timeout.mode=disabled");
    }
    command.add("-cp");
    command.add(side.classPath(work.resolve("conf"), hadoop));
    command.add(TestFork.class.getName());
    return command;
  }

  private static Map<String, TestOutcome> outcomes(Path file) throws IOException {
    Map<String, TestOutcome> outcomes = new LinkedHashMap<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        TestOutcome outcome = JSON.readValue(line, TestOutcome.class);
        outcomes.put(outcome.id(), outcome);
      }
    }
    return outcomes;
  }
}
