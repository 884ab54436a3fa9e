package org.hdfsmeld.spark.timeline;

/**
 * What one open stream read of one block, at consecutive positions.
 *
 * @param task Spark's taskAttemptId; -1: no task
 * @param pool of the block
 * @param offset of the first byte in the block
 * @param beginNs entry of the first read call, since the epoch
 * @param endNs return of the last one
 * @param waitedNs inside the read calls
 */
record BlockRead(
    long task,
    String path,
    String pool,
    long block,
    long offset,
    long bytes,
    long beginNs,
    long endNs,
    long waitedNs) {}
