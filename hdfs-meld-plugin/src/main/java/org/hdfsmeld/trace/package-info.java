/**
 * The block trace: one record for each block I/O of a DataNode, on demand. In come records of
 * HDFS's threads and of the device's; out go files that {@code meldsim} replays, written by {@code
 * MeldTraceWriter}.
 */
package org.hdfsmeld.trace;
