/**
 * Runs a stock DataNode's volumes on simulated devices. Here is what Hadoop and operators call: the
 * factory in {@code dfs.datanode.fsdataset.factory}, and {@code hdfs meld} on the DataNode's IPC
 * handlers. Everything else has a package below; each knows only those above it in this list:
 *
 * <ol>
 *   <li>{@code config}: the keys, read once
 *   <li>{@code metrics}: counters, JMX beans, metrics2 records, the log of failures
 *   <li>{@code state}: snapshots and journals on disk
 *   <li>{@code device}: a simulated device and the volumes' namespaces on it
 *   <li>{@code hint}: how blocks will be read, from NameNodes and from history
 *   <li>{@code layout}: where blocks lie on a namespace
 *   <li>{@code readahead}: what is requested ahead of a reader
 *   <li>{@code volume}: the simulated volumes of a DataNode
 *   <li>{@code io}: what the device is told of a stream
 *   <li>{@code hadoop}: the door to Hadoop: file I/O, threads' names, a probe at the start
 *   <li>{@code placement}: the volume that a new block goes to
 * </ol>
 */
package org.hdfsmeld.datanode;
