/**
 * Reads data sets front to back. In: paths. Out: bytes, checksum, throughput; of raw files also the
 * latency of each request. Tables are read by Spark's own readers; a raw file by one task.
 */
package org.hdfsmeld.spark.scan;
