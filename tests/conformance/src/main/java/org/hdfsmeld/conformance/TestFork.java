package org.hdfsmeld.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import javax.management.JMException;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The JVM of one test class on one side: {@code TestFork OUTCOMES EVENTS SELECTOR...}, where a
 * selector is a class name or a unique id.
 *
 * <p>An outcome is written as soon as a test ends, so that what ran before a time limit is known.
 * The events come last: without them the JVM did not finish.
 */
public final class TestFork implements TestExecutionListener {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path outcomes;

  private TestFork(Path outcomes) {
    this.outcomes = outcomes;
  }

  /** Runs the tests; ends the JVM, whatever threads they left behind. */
  public static void main(String[] args) throws IOException, JMException {
    List<DiscoverySelector> tests = Arrays.stream(args).skip(2).map(TestFork::selector).toList();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(tests).build(),
            new TestFork(Path.of(args[0])));
    JSON.writeValue(
        Path.of(args[1]).toFile(), PluginEvents.totals(ManagementFactory.getPlatformMBeanServer()));
    Runtime.getRuntime().halt(0);
  }

  private static DiscoverySelector selector(String text) {
    return text.startsWith("[")
        ? DiscoverySelectors.selectUniqueId(text)
        : DiscoverySelectors.selectClass(text);
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    write(TestOutcome.of(test.getUniqueId(), TestOutcome.Status.SKIPPED, reason));
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (passed && !test.isTest()) {
      return;
    }
    TestOutcome.Status status =
        switch (result.getStatus()) {
          case SUCCESSFUL -> TestOutcome.Status.PASSED;
          case FAILED -> TestOutcome.Status.FAILED;
          case ABORTED -> TestOutcome.Status.ABORTED;
        };
    String why = result.getThrowable().map(Throwable::toString).orElse("");
    result.getThrowable().ifPresent(Throwable::printStackTrace);
    write(TestOutcome.of(test.getUniqueId(), status, why));
  }

  private void write(TestOutcome outcome) {
    try {
      Files.writeString(
          outcomes,
          JSON.writeValueAsString(outcome) + "\n",
          StandardCharsets.UTF_8,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
