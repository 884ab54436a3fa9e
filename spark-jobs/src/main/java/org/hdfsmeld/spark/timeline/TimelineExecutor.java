package org.hdfsmeld.spark.timeline;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** The plugin in an executor: records reads and sends them to the driver. */
final class TimelineExecutor implements ExecutorPlugin {
  /** Set by the driver where it writes a file. */
  static final String RECORD_KEY = "record";

  /** Which task runs in a thread; it is no longer known by Spark when it has ended. */
  private final ThreadLocal<Long> running = new ThreadLocal<>();

  /** Null: nothing is recorded. */
  private ReadSender sender;

  @Override
  public void init(PluginContext plugin, Map<String, String> fromDriver) {
    if (fromDriver.containsKey(RECORD_KEY)) {
      sender = ReadSender.start(plugin.executorID(), batch -> plugin.send(batch.encode()));
    }
  }

  @Override
  public void onTaskStart() {
    if (sender != null) {
      running.set(TaskContext.get().taskAttemptId());
    }
  }

  @Override
  public void onTaskSucceeded() {
    taskEnded();
  }

  @Override
  public void onTaskFailed(TaskFailedReason reason) {
    taskEnded();
  }

  /** Also called of tasks that failed before they started. */
  private void taskEnded() {
    if (sender != null) {
      Long task = running.get();
      running.remove();
      sender.taskEnded(task == null ? ReadLog.NO_TASK : task);
    }
  }

  @Override
  public void shutdown() {
    if (sender != null) {
      sender.close();
    }
  }
}
