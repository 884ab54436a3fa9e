package org.hdfsmeld.spark.timeline;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What an executor tells the driver. It travels as a string, so that no class loader of Spark's RPC
 * has to know a class of ours.
 *
 * @param tasks ended so far on the executor, all of whose reads were told by this batch or before
 * @param dropped reads lost since the batch before
 * @param reads how many lines there are
 * @param lines as the file has them
 */
record ReadBatch(String executor, long tasks, long dropped, int reads, String lines) {
  static ReadBatch of(String executor, ReadLog.Taken taken) {
    List<BlockRead> reads = taken.reads();
    return new ReadBatch(
        executor,
        taken.tasks(),
        taken.dropped(),
        reads.size(),
        reads.stream().map(Lines::of).collect(Collectors.joining()));
  }

  String encode() {
    return executor + ' ' + tasks + ' ' + dropped + ' ' + reads + '\n' + lines;
  }

  static ReadBatch decode(String message) {
    int end = message.indexOf('\n');
    String[] fields = message.substring(0, end).split(" ", -1);
    return new ReadBatch(
        fields[0],
        Long.parseLong(fields[1]),
        Long.parseLong(fields[2]),
        Integer.parseInt(fields[3]),
        message.substring(end + 1));
  }
}
