/**
 * Figures by the wall clock. On executors the thread that reads records its own latencies; tasks
 * return them, and the driver merges them. In the driver a listener, called by Spark's listener
 * bus, keeps what each stage moved; {@link org.hdfsmeld.spark.measure.Measured} runs Spark jobs in
 * the caller's thread and gives their result with their stages.
 */
package org.hdfsmeld.spark.measure;
