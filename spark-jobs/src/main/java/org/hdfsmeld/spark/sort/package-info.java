/**
 * Sorts lines or records. In: files. Out: files by range, in order, written by executors;
 * throughput of each step. Then tasks read all files again without Spark's readers, and the driver
 * compares rows, checksum and order.
 */
package org.hdfsmeld.spark.sort;
