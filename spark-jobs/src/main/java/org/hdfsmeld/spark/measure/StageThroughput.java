package org.hdfsmeld.spark.measure;

import java.util.List;

/**
 * What one Spark stage read and wrote, and how fast; all of it measured on the wall clock.
 *
 * @param name the description of its job, or what Spark calls the stage
 * @param spilledBytes written to local disks by sorts for which memory was short
 * @param wallSeconds from the submission of the stage to its completion
 * @param taskSeconds run time summed over the tasks
 * @param cpuSeconds CPU time of the task threads
 * @param readMibPerSecond bytes read by wall time; zero when the stage took no measurable time
 */
public record StageThroughput(
    int stageId,
    String name,
    int tasks,
    int failedTasks,
    long readBytes,
    long readRecords,
    long writtenBytes,
    long writtenRecords,
    long shuffleReadBytes,
    long shuffleWrittenBytes,
    long spilledBytes,
    double wallSeconds,
    double taskSeconds,
    double cpuSeconds,
    double readMibPerSecond) {

  /** Bytes of a MiB. */
  public static final double MIB = 1024.0 * 1024.0;

  /** Wall seconds added up; of stages that ran one after the other. */
  public static double wallSeconds(List<StageThroughput> stages) {
    return stages.stream().mapToDouble(StageThroughput::wallSeconds).sum();
  }

  /** Run time summed over the tasks of all the stages. */
  public static double taskSeconds(List<StageThroughput> stages) {
    return stages.stream().mapToDouble(StageThroughput::taskSeconds).sum();
  }

  /** MiB a second; zero where no time passed. */
  public static double mibPerSecond(long bytes, double seconds) {
    return seconds > 0 ? bytes / MIB / seconds : 0;
  }
}
