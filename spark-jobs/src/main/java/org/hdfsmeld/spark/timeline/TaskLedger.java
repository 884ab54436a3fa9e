package org.hdfsmeld.spark.timeline;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Whether the driver was told the reads of every task that ended, and saw the application end. */
final class TaskLedger {
  private final Map<String, Long> ended = new HashMap<>();
  private final Map<String, Long> told = new HashMap<>();
  private final Set<String> lost = new HashSet<>();
  private boolean applicationEnded;

  /** Spark says that a task of the executor ended. */
  synchronized void taskEnded(String executor) {
    ended.merge(executor, 1L, Long::sum);
  }

  /** The executor says that it told all reads of so many tasks. */
  synchronized void told(String executor, long tasks) {
    told.merge(executor, tasks, Math::max);
    notifyAll();
  }

  /** What that executor did not tell is lost, unless it stopped because the application did. */
  synchronized void executorLost(String executor) {
    if (!applicationEnded) {
      lost.add(executor);
    }
  }

  /** Spark's listeners have seen all tasks. */
  synchronized void applicationEnded() {
    applicationEnded = true;
    notifyAll();
  }

  /** Waits until all is told, or that long. */
  synchronized boolean await(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    long left = deadline - System.nanoTime();
    while (!complete() && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = deadline - System.nanoTime();
    }
    return complete();
  }

  private boolean complete() {
    return applicationEnded
        && ended.entrySet().stream()
            .allMatch(
                executor ->
                    lost.contains(executor.getKey())
                        || told.getOrDefault(executor.getKey(), 0L) >= executor.getValue());
  }
}
