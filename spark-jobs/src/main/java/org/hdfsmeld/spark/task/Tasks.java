package org.hdfsmeld.spark.task;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.util.SerializableConfiguration;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** Work that is not a query: one Spark task an item, started in the order of the items. */
public final class Tasks {
  private Tasks() {}

  /** What a task does with its item; the configuration is that of the driver's Hadoop. */
  public interface Work<T, R> extends Serializable {
    R run(T item, Configuration conf) throws Exception;
  }

  /** A file to be read by one task. */
  public record Input(String path, long bytes) implements Serializable {}

  /** Runs the work once an item, wherever there is a slot, and returns the results in order. */
  public static <T, R> List<R> run(SparkContext context, List<T> items, Work<T, R> work) {
    return run(context, items, items.stream().map(item -> List.<String>of()).toList(), work);
  }

  /** Runs the work once a file, if possible where its first block is. */
  public static <R> List<R> perFile(
      SparkContext context, List<FileStatus> files, Work<Input, R> work) throws IOException {
    List<Input> inputs = new ArrayList<>();
    List<List<String>> hosts = new ArrayList<>();
    for (FileStatus file : files) {
      inputs.add(new Input(file.getPath().toString(), file.getLen()));
      BlockLocation[] blocks =
          file.getPath()
              .getFileSystem(context.hadoopConfiguration())
              .getFileBlockLocations(file, 0, 1);
      hosts.add(blocks.length == 0 ? List.of() : Arrays.asList(blocks[0].getHosts()));
    }
    return run(context, inputs, hosts, work);
  }

  /** Adds to what Spark shows as the task's input; its own readers do that by themselves. */
  public static void countInput(long bytes, long records) {
    TaskContext.get().taskMetrics().inputMetrics().incBytesRead(bytes);
    TaskContext.get().taskMetrics().inputMetrics().incRecordsRead(records);
  }

  /** Sets what Spark shows as the task's output; its own writers do that by themselves. */
  public static void countOutput(long bytes, long records) {
    TaskContext.get().taskMetrics().outputMetrics().setBytesWritten(bytes);
    TaskContext.get().taskMetrics().outputMetrics().setRecordsWritten(records);
  }

  private static <T, R> List<R> run(
      SparkContext context, List<T> items, List<List<String>> hosts, Work<T, R> work) {
    SerializableConfiguration conf = new SerializableConfiguration(context.hadoopConfiguration());
    List<Tuple2<T, Seq<String>>> placed = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      placed.add(new Tuple2<>(items.get(i), seq(hosts.get(i))));
    }
    RDD<T> rdd = context.makeRDD(seq(placed), ClassTag$.MODULE$.apply(Object.class));
    return rdd.toJavaRDD().map(item -> work.run(item, conf.value())).collect();
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }
}
