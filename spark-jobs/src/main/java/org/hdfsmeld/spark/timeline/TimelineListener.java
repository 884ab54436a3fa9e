package org.hdfsmeld.spark.timeline;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import scala.Option;

/** Writes stages and tasks as they end, by Spark's clock: that of the driver, in milliseconds. */
final class TimelineListener extends SparkListener {
  private static final String DESCRIPTION_KEY = "spark.job.description";

  private final TimelineWriter writer;
  private final TaskLedger ledger;

  /** Of the stages that run. */
  private final Map<Integer, String> descriptions = new HashMap<>();

  TimelineListener(TimelineWriter writer, TaskLedger ledger) {
    this.writer = writer;
    this.ledger = ledger;
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    Properties properties = submitted.properties();
    String description = properties == null ? "" : properties.getProperty(DESCRIPTION_KEY, "");
    if (!description.isEmpty()) {
      descriptions.put(submitted.stageInfo().stageId(), description);
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo stage = completed.stageInfo();
    String description = descriptions.remove(stage.stageId());
    long begin = nanos(stage.submissionTime(), 0);
    writer.write(
        Lines.of(
            new Lines.Stage(
                stage.stageId(),
                stage.attemptNumber(),
                description == null ? stage.name() : description,
                begin,
                nanos(stage.completionTime(), begin))));
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    TaskInfo task = end.taskInfo();
    writer.write(
        Lines.of(
            new Lines.Task(
                task.taskId(),
                end.stageId(),
                end.stageAttemptId(),
                task.index(),
                task.attemptNumber(),
                task.host(),
                task.executorId(),
                TimeUnit.MILLISECONDS.toNanos(task.launchTime()),
                TimeUnit.MILLISECONDS.toNanos(task.finishTime()),
                task.successful())));
    ledger.taskEnded(task.executorId());
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    ledger.executorLost(removed.executorId());
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    ledger.applicationEnded();
  }

  private static long nanos(Option<Object> millis, long otherwise) {
    return millis.isDefined() ? TimeUnit.MILLISECONDS.toNanos((Long) millis.get()) : otherwise;
  }
}
