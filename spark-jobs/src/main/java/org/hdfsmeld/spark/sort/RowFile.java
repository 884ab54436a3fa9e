package org.hdfsmeld.spark.sort;

import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.util.LineReader;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;
import org.hdfsmeld.spark.task.Tasks;

/**
 * The rows of one file, read without Spark: lines, or records of one length. Rows are ordered as
 * unsigned bytes.
 *
 * @param checksum the sum, modulo 2^64, of the XXH64 of every row, as a scan has it
 * @param first null if there is none
 * @param disorder the number of the first row that is less than the one before it; -1: none
 */
record RowFile(String path, long rows, long checksum, byte[] first, byte[] last, long disorder)
    implements Serializable {
  // What Spark's xxhash64 begins with.
  private static final long XXH64_SEED = 42;

  /** Reads every file, each in a task. */
  static List<RowFile> readAll(SparkContext context, List<FileStatus> files, int recordBytes)
      throws Exception {
    return Tasks.perFile(context, files, (file, conf) -> read(conf, file.path(), recordBytes));
  }

  /**
   * Reads one file.
   *
   * @param recordBytes length of a row; zero: rows are lines
   */
  private static RowFile read(Configuration conf, String name, int recordBytes) throws IOException {
    Path path = new Path(name);
    try (FSDataInputStream in = path.getFileSystem(conf).open(path)) {
      return recordBytes == 0 ? lines(name, in) : records(name, in, recordBytes);
    }
  }

  private static RowFile lines(String name, FSDataInputStream in) throws IOException {
    LineReader reader = new LineReader(in);
    Text line = new Text();
    Check check = new Check();
    while (reader.readLine(line) > 0) {
      check.add(line.copyBytes());
    }
    return check.done(name);
  }

  private static RowFile records(String name, FSDataInputStream in, int bytes) throws IOException {
    Check check = new Check();
    byte[] pieces = new byte[Math.max(1, (1 << 20) / bytes) * bytes];
    int length;
    while ((length = in.readNBytes(pieces, 0, pieces.length)) > 0) {
      for (int at = 0; at < length; at += bytes) {
        check.add(Arrays.copyOfRange(pieces, at, Math.min(at + bytes, length)));
      }
    }
    return check.done(name);
  }

  private static final class Check {
    private long rows;
    private long checksum;
    private byte[] first;
    private byte[] last;
    private long disorder = -1;

    void add(byte[] row) {
      checksum += XXH64.hashUnsafeBytes(row, Platform.BYTE_ARRAY_OFFSET, row.length, XXH64_SEED);
      if (rows == 0) {
        first = row;
      } else if (disorder < 0 && Arrays.compareUnsigned(last, row) > 0) {
        disorder = rows;
      }
      last = row;
      rows++;
    }

    RowFile done(String name) {
      return new RowFile(name, rows, checksum, first, last, disorder);
    }
  }
}
