/**
 * TPC-H Q1 and Q6. In: the files of lineitem as Parquet. Out: the answers, seconds and bytes of
 * each run. Spark SQL does the work on executors; the driver asks, and measures.
 */
package org.hdfsmeld.spark.query;
