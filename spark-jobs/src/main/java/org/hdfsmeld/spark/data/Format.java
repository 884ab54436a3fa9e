package org.hdfsmeld.spark.data;

import java.util.Locale;

/** How data is stored. */
public enum Format {
  /** One line a row, fields ended by {@code |}, as dbgen writes it. */
  TEXT,
  /** Apache Parquet. */
  PARQUET,
  /** Not a table: pseudo-random bytes, one HDFS block a file. */
  RAW;

  /** The directory below the output path that holds this format. */
  public String directory() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return directory();
  }
}
