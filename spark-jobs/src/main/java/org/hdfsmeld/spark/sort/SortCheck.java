package org.hdfsmeld.spark.sort;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.SparkContext;

/** Whether what was written is what was read, in order; looked up in the files themselves. */
final class SortCheck {
  private SortCheck() {}

  /**
   * Fails if the rows written are not the rows read, in order.
   *
   * @param recordBytes length of a row; zero: rows are lines
   * @return what was written
   */
  static List<RowFile> check(
      SparkContext context, List<FileStatus> files, List<FileStatus> written, int recordBytes)
      throws Exception {
    List<RowFile> in = RowFile.readAll(context, files, recordBytes);
    List<RowFile> out = RowFile.readAll(context, written, recordBytes);
    if (rows(in) != rows(out)) {
      throw new IOException("read " + rows(in) + " rows, wrote " + rows(out));
    }
    if (!checksum(in).equals(checksum(out))) {
      throw new IOException(
          "read rows of checksum " + checksum(in) + ", wrote rows of checksum " + checksum(out));
    }
    String disorder = disorder(out);
    if (disorder != null) {
      throw new IOException(disorder);
    }
    return out;
  }

  static long rows(List<RowFile> files) {
    return files.stream().mapToLong(RowFile::rows).sum();
  }

  static String checksum(List<RowFile> files) {
    return String.format("%016x", files.stream().mapToLong(RowFile::checksum).sum());
  }

  /** Where the rows of these files, one after the other, are not in order; null: they are. */
  static String disorder(List<RowFile> files) {
    RowFile before = null;
    for (RowFile file : files) {
      if (file.disorder() >= 0) {
        return file.path() + ": row " + file.disorder() + " is less than the row before it";
      }
      if (file.rows() > 0) {
        if (before != null && Arrays.compareUnsigned(before.last(), file.first()) > 0) {
          return file.path() + ": begins with less than the last row of " + before.path();
        }
        before = file;
      }
    }
    return null;
  }
}
