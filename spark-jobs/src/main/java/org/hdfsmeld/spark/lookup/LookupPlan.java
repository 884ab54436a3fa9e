package org.hdfsmeld.spark.lookup;

import java.io.FileNotFoundException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.SplitMix64;

/**
 * Where random reads go: every place at which a record fits into a file is equally likely. Read N
 * is the same whichever task does it.
 */
final class LookupPlan implements Serializable {
  private static final long serialVersionUID = 1;

  private final String[] paths;
  // The places in all files before this one; the last is the number of places.
  private final long[] before;
  private final long seed;

  /** One read: of this file from this offset on. */
  record Place(String path, long offset) {}

  /** Plans reads of that many bytes; files that are shorter are left out. */
  LookupPlan(List<FileStatus> files, int bytes, long seed) throws FileNotFoundException {
    List<FileStatus> fit = files.stream().filter(file -> file.getLen() >= bytes).toList();
    if (fit.isEmpty()) {
      throw new FileNotFoundException(
          "--bytes: none of the " + files.size() + " files has " + bytes + " bytes; ask for less");
    }
    this.seed = seed;
    paths = DataFiles.paths(fit);
    before = new long[paths.length + 1];
    for (int i = 0; i < paths.length; i++) {
      before[i + 1] = before[i] + fit.get(i).getLen() - bytes + 1;
    }
  }

  int files() {
    return paths.length;
  }

  Place place(long read) {
    long random = SplitMix64.word(SplitMix64.mix(seed), read);
    long place = Long.remainderUnsigned(random, before[paths.length]);
    int found = Arrays.binarySearch(before, place);
    int file = found >= 0 ? found : -found - 2;
    return new Place(paths[file], place - before[file]);
  }
}
