/**
 * Reads beside a writer. The driver opens windows of time, in its own thread for the readers and in
 * another for the writers; on executors, a task each, they wait for the window and work until it
 * closes. Out: latencies and throughput with the writer and without.
 */
package org.hdfsmeld.spark.mixed;
