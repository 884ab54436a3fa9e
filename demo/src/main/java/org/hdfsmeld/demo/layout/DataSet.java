package org.hdfsmeld.demo.layout;

import java.util.List;
import org.hdfsmeld.demo.volumes.Counters;

/**
 * One of the two copies of the data.
 *
 * @param path where it is in HDFS
 * @param directive whether its blocks were written with the sequential directive
 * @param bytes measured: length of its files
 * @param generateSeconds measured, on the wall
 * @param meldedMappedShare simulated: of its pages on flash, those on melded wordlines
 * @param paddedPages simulated: pages programmed with padding
 */
public record DataSet(
    String path,
    boolean directive,
    int files,
    long bytes,
    double generateSeconds,
    double meldedMappedShare,
    long paddedPages) {

  /** The copy, from what its devices counted while it was written. */
  public static DataSet of(
      String path,
      boolean directive,
      int files,
      long bytes,
      double seconds,
      List<Counters> written) {
    long mapped = Counters.sum(written, "mapped_pages");
    long melded = Counters.sum(written, "melded_mapped_pages");
    return new DataSet(
        path,
        directive,
        files,
        bytes,
        seconds,
        mapped > 0 ? (double) melded / mapped : 0,
        Counters.sum(written, "padded_pages"));
  }
}
