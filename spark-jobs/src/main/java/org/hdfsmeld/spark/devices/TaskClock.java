package org.hdfsmeld.spark.devices;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** How long tasks ran, on the wall clock. */
final class TaskClock extends SparkListener {
  /** Spans in which tasks ran, none touching another: start to end, milliseconds. */
  private final TreeMap<Long, Long> spans = new TreeMap<>();

  private long readerMillis;
  private long writerMillis;

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    ran(end.taskInfo().launchTime(), end.taskInfo().finishTime());
    TaskMetrics metrics = end.taskMetrics();
    if (metrics != null && metrics.inputMetrics().bytesRead() > 0) {
      readerMillis += metrics.executorRunTime();
    }
    if (metrics != null && metrics.outputMetrics().bytesWritten() > 0) {
      writerMillis += metrics.executorRunTime();
    }
  }

  synchronized void ran(long fromMillis, long toMillis) {
    long from = fromMillis;
    long to = toMillis;
    Map.Entry<Long, Long> other = spans.floorEntry(to);
    while (other != null && other.getValue() >= from) {
      from = Math.min(from, other.getKey());
      to = Math.max(to, other.getValue());
      spans.remove(other.getKey());
      other = spans.floorEntry(to);
    }
    spans.put(from, to);
  }

  /** In which at least one task ran. */
  synchronized double wallSeconds() {
    return spans.entrySet().stream().mapToLong(span -> span.getValue() - span.getKey()).sum() / 1e3;
  }

  /** Run time summed over the tasks that read files. */
  synchronized double readerSeconds() {
    return readerMillis / 1e3;
  }

  /** Run time summed over the tasks that wrote files. */
  synchronized double writerSeconds() {
    return writerMillis / 1e3;
  }
}
