package org.hdfsmeld.spark.measure;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.apache.spark.SparkContext;

/**
 * What Spark jobs returned, and the stages in which they ran.
 *
 * @param stages in the order of their numbers
 */
public record Measured<T>(T value, List<StageThroughput> stages) {
  private static final long LISTENER_TIMEOUT_MS = 60_000;

  /**
   * Runs jobs and keeps their stages apart from those of any other thread.
   *
   * @param description what the history server calls them
   */
  public static <T> Measured<T> run(SparkContext context, String description, Callable<T> jobs)
      throws Exception {
    StageListener listener = new StageListener();
    String group = UUID.randomUUID().toString();
    context.addSparkListener(listener);
    context.setJobGroup(group, description, false);
    T value;
    try {
      value = jobs.call();
    } finally {
      context.clearJobGroup();
      awaitListeners(context);
      context.removeSparkListener(listener);
    }
    return new Measured<>(value, listener.stages(group));
  }

  /** Waits until listeners have seen all that has happened so far. */
  public static void awaitListeners(SparkContext context) throws Exception {
    context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
  }

  /** Wall seconds of the stages, added up; for stages that ran one after the other. */
  public double wallSeconds() {
    return StageThroughput.wallSeconds(stages);
  }
}
