package org.hdfsmeld.compatibility;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.hadoop.Folders;

/** Runs test classes of a cell, each in JVMs of its own. */
final class TestJvm {
  /** Of one JVM. */
  private static final Duration LIMIT = Duration.ofMinutes(20);

  /** Of tests that load the library which fails on demand: a JVM loads one only. */
  private static final String FAULTS = "faults";

  /** The exit code of JUnit's launcher where the filters leave no test. */
  private static final int NO_TESTS = 2;

  private static final int NATIVE_ACCESS_SINCE = 22;

  private final Cell cell;
  private final Path folder;

  /**
   * Makes nothing yet.
   *
   * @param folder where logs are, and the tests' files while they run; on failure these stay
   */
  TestJvm(Cell cell, Path folder) {
    this.cell = cell;
    this.folder = folder;
  }

  /** Runs a class with the plugin on the class path. */
  Outcome run(String className) throws IOException, InterruptedException {
    List<Path> path = cell.withPlugin(cell.tests());
    Outcome plain = run(className, path, "", List.of(), List.of("--exclude-tag=" + FAULTS));
    Outcome faults =
        run(
            className,
            path,
            "-" + FAULTS,
            List.of("-Dmeld.testing.library=" + cell.built().faults(), "-Dorg.hdfsmeld.looks=20"),
            List.of("--include-tag=" + FAULTS));
    return plain.and(faults);
  }

  /** Runs a class that needs no plugin, without it. */
  Outcome runAlone(String className) throws IOException, InterruptedException {
    return run(className, cell.tests(), "", List.of(), List.of());
  }

  private Outcome run(
      String className, List<Path> path, String suffix, List<String> flags, List<String> filters)
      throws IOException, InterruptedException {
    String label = className.substring(className.lastIndexOf('.') + 1) + suffix;
    Path work = folder.resolve(label);
    Path log = folder.resolve(label + ".log");
    Folders.delete(work);
    Files.createDirectories(work);
    List<String> command = new ArrayList<>();
    command.add(cell.java().java().toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--add-opens") || flag.startsWith("-Djava."))
        .forEach(command::add);
    if (cell.release() >= NATIVE_ACCESS_SINCE) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    // As Maven runs them.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx2g"));
    command.add("-Djava.io.tmpdir=" + work);
    command.add("-Dtest.build.data=" + work.resolve("data"));
    command.add(
        "-Dlog4j2.configurationFile="
            + cell.built().tree().resolve("tests/compatibility/src/main/launch/log4j2.properties"));
    command.add("-Dmeld.daemons.path=" + join(cell.withPlugin(cell.daemons())));
    command.addAll(flags);
    command.addAll(List.of("-cp", join(path), "org.junit.platform.console.ConsoleLauncher"));
    command.addAll(List.of("execute", "--disable-banner", "--fail-if-no-tests"));
    command.addAll(List.of("--select-class=" + className, "--reports-dir=" + work));
    command.addAll(filters);
    long start = System.nanoTime();
    Process process =
        new ProcessBuilder(command)
            // Tests name files of the tree from there, as Maven runs them.
            .directory(cell.built().tree().resolve("tests").toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    boolean ended;
    try {
      ended = process.waitFor(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    Path report = work.resolve("TEST-junit-jupiter.xml");
    Outcome outcome =
        ended && Files.exists(report) ? Outcome.read(report, took) : new Outcome(0, 0, 0, took, "");
    int code = process.exitValue();
    if (code == 0 || code == NO_TESTS) {
      Folders.delete(work);
      return outcome;
    }
    if (outcome.failed() > 0) {
      return outcome;
    }
    String why = ended ? "its JVM ended with " + code : "not finished after " + LIMIT;
    return outcome.and(new Outcome(0, 1, 0, Duration.ZERO, why + "; see " + log));
  }

  private static String join(List<Path> path) {
    return path.stream().map(Path::toString).collect(joining(":"));
  }
}
