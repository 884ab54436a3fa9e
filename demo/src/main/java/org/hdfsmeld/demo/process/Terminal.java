package org.hdfsmeld.demo.process;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * Shows which stage runs and how far it is: in place on a terminal, now and then a line in a log.
 */
public final class Terminal implements AutoCloseable {
  private static final long TERMINAL_PERIOD_MS = 500;
  private static final long LOG_PERIOD_MS = 15_000;
  private static final int LABEL_WIDTH = 66;

  private final PrintStream out;
  private final boolean inPlace;
  private final int stages;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "progress");
            thread.setDaemon(true);
            return thread;
          });
  private int stage;

  /** A piece of work, whose result is shown by one line. */
  public interface Work<T> {
    T run() throws Exception;
  }

  /** What to say of a result when its stage is done. */
  public interface Outcome<T> {
    String describe(T result);
  }

  /** Shows so many stages; in place, where {@code out} is a terminal. */
  public Terminal(PrintStream out, boolean inPlace, int stages) {
    this.out = out;
    this.inPlace = inPlace;
    this.stages = stages;
  }

  /** Whether standard error is a terminal; unlike System.console(), it does not ask for input. */
  public static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Runs the next stage, showing the fraction done: 0 to 1, or negative when it is unknown. */
  public <T> T stage(String label, DoubleSupplier fraction, Work<T> work, Outcome<T> outcome)
      throws Exception {
    stage++;
    long start = System.nanoTime();
    String head = String.format(Locale.ROOT, "[%d/%d] %s", stage, stages, label);
    if (!inPlace) {
      out.println(head);
    }
    long period = inPlace ? TERMINAL_PERIOD_MS : LOG_PERIOD_MS;
    ScheduledFuture<?> ticker =
        executor.scheduleAtFixedRate(
            () -> show(head, fraction.getAsDouble(), seconds(start)),
            inPlace ? 0 : period,
            period,
            TimeUnit.MILLISECONDS);
    T result;
    try {
      result = work.run();
    } finally {
      ticker.cancel(false);
      settle();
    }
    line(head, outcome.describe(result), seconds(start));
    return result;
  }

  /** Lines between stages. */
  public void say(String text) {
    text.lines().forEach(line -> out.println("      " + line));
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }

  /** Waits for a tick under way, and clears what it drew. */
  private synchronized void settle() {
    if (inPlace) {
      out.print("\r\033[K");
      out.flush();
    }
  }

  private synchronized void show(String head, double fraction, double seconds) {
    String percent = fraction < 0 ? "" : String.format(Locale.ROOT, "%3.0f %%", 100 * fraction);
    if (inPlace) {
      out.printf(Locale.ROOT, "\r\033[K%-" + LABEL_WIDTH + "s %5s %5.0f s", head, percent, seconds);
      out.flush();
    } else {
      out.printf(Locale.ROOT, "      %s %.0f s%n", percent, seconds);
    }
  }

  private synchronized void line(String head, String outcome, double seconds) {
    if (inPlace) {
      out.printf(Locale.ROOT, "%-" + LABEL_WIDTH + "s %5s %5.1f s%n", head, "done", seconds);
      if (!outcome.isEmpty()) {
        say(outcome);
      }
    } else {
      out.printf(
          Locale.ROOT,
          "      done in %.1f s%s%n",
          seconds,
          outcome.isEmpty() ? "" : ": " + outcome);
    }
  }

  private static double seconds(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }
}
