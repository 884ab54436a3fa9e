package org.hdfsmeld.spark.task;

import org.apache.spark.SparkContext;

/** Task slots: how many tasks Spark can run at the same time. */
public final class Slots {
  private static final long WAIT_MS = 30_000;
  private static final long POLL_MS = 100;

  private Slots() {}

  /** Fails unless that many tasks can run at once; waits for executors that are still starting. */
  public static void require(SparkContext context, int needed, String purpose)
      throws InterruptedException {
    long deadline = System.nanoTime() + WAIT_MS * 1_000_000;
    int slots = available(context);
    while (slots < needed && !context.isLocal() && System.nanoTime() - deadline < 0) {
      Thread.sleep(POLL_MS);
      slots = available(context);
    }
    if (slots < needed) {
      throw new IllegalStateException(
          needed
              + " tasks must run at once ("
              + purpose
              + "), but Spark has "
              + slots
              + " task slots: give it more executors or cores (--num-executors,"
              + " --total-executor-cores, --executor-cores, or --master local["
              + needed
              + "]), or lower spark.task.cpus");
    }
  }

  private static int available(SparkContext context) {
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
  }
}
