package org.hdfsmeld.timeline;

/**
 * What a stream read of a block, between its opening and its end.
 *
 * @param pool the block's pool
 * @param block the block's id
 * @param client the client's name, as HDFS has it; empty where there is none
 * @param kind for whom it was, as in block traces
 * @param beginNs of {@link System#nanoTime}
 * @param endNs likewise
 * @param offset the first byte that was read
 * @param bytes how many were read
 */
public record BlockRead(
    String pool,
    long block,
    String client,
    String kind,
    long beginNs,
    long endNs,
    long offset,
    long bytes) {}
