package org.hdfsmeld.spark.measure;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Bytes and throughput of every stage: kept, and logged as the stage ends. */
public class StageListener extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(StageListener.class);
  private static final String JOB_GROUP_KEY = "spark.jobGroup.id";
  private static final String DESCRIPTION_KEY = "spark.job.description";

  private final Map<Integer, Sums> running = new HashMap<>();
  private final Map<Integer, StageThroughput> done = new TreeMap<>();
  private final Map<Integer, String> groups = new HashMap<>();
  private final Map<Integer, String> descriptions = new HashMap<>();

  /** The stages completed so far, by their number. */
  public synchronized List<StageThroughput> stages() {
    return List.copyOf(done.values());
  }

  /** The completed stages of the jobs that ran in the given job group. */
  synchronized List<StageThroughput> stages(String jobGroup) {
    return done.values().stream()
        .filter(stage -> jobGroup.equals(groups.get(stage.stageId())))
        .toList();
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart job) {
    Properties properties = job.properties() == null ? new Properties() : job.properties();
    String group = properties.getProperty(JOB_GROUP_KEY, "");
    String description = properties.getProperty(DESCRIPTION_KEY, "");
    scala.collection.Iterator<StageInfo> stages = job.stageInfos().iterator();
    while (stages.hasNext()) {
      StageInfo stage = stages.next();
      groups.putIfAbsent(stage.stageId(), group);
      descriptions.putIfAbsent(stage.stageId(), description.isEmpty() ? stage.name() : description);
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    Sums sums = running.computeIfAbsent(end.stageId(), id -> new Sums());
    sums.tasks++;
    if (!end.taskInfo().successful()) {
      sums.failed++;
    }
    TaskMetrics metrics = end.taskMetrics();
    if (metrics != null) {
      sums.readBytes += metrics.inputMetrics().bytesRead();
      sums.readRecords += metrics.inputMetrics().recordsRead();
      sums.writtenBytes += metrics.outputMetrics().bytesWritten();
      sums.writtenRecords += metrics.outputMetrics().recordsWritten();
      sums.shuffleReadBytes += metrics.shuffleReadMetrics().totalBytesRead();
      sums.shuffleWrittenBytes += metrics.shuffleWriteMetrics().bytesWritten();
      sums.spilledBytes += metrics.diskBytesSpilled();
      sums.runMillis += metrics.executorRunTime();
      sums.cpuNanos += metrics.executorCpuTime();
    }
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo info = completed.stageInfo();
    Sums sums = running.remove(info.stageId());
    StageThroughput stage =
        (sums == null ? new Sums() : sums)
            .toStage(info, descriptions.getOrDefault(info.stageId(), info.name()));
    done.put(stage.stageId(), stage);
    if (LOG.isInfoEnabled()) {
      LOG.info(
          "stage {} ({}): {} tasks read {} bytes in {} s: {} MiB/s",
          stage.stageId(),
          stage.name(),
          stage.tasks(),
          stage.readBytes(),
          stage.wallSeconds(),
          String.format("%.1f", stage.readMibPerSecond()));
    }
  }

  private static final class Sums {
    private int tasks;
    private int failed;
    private long readBytes;
    private long readRecords;
    private long writtenBytes;
    private long writtenRecords;
    private long shuffleReadBytes;
    private long shuffleWrittenBytes;
    private long spilledBytes;
    private long runMillis;
    private long cpuNanos;

    StageThroughput toStage(StageInfo info, String name) {
      long start = info.submissionTime().isDefined() ? (Long) info.submissionTime().get() : 0;
      long end = info.completionTime().isDefined() ? (Long) info.completionTime().get() : start;
      double wallSeconds = (end - start) / 1e3;
      return new StageThroughput(
          info.stageId(),
          name,
          tasks,
          failed,
          readBytes,
          readRecords,
          writtenBytes,
          writtenRecords,
          shuffleReadBytes,
          shuffleWrittenBytes,
          spilledBytes,
          wallSeconds,
          runMillis / 1e3,
          cpuNanos / 1e9,
          StageThroughput.mibPerSecond(readBytes, wallSeconds));
    }
  }
}
