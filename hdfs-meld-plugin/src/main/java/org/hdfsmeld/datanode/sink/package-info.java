/**
 * In comes the decision on a block whose data is written; out goes the directive of the device's
 * command, the write-lifetime hint of the block's file, or both. On HDFS's writing thread.
 */
package org.hdfsmeld.datanode.sink;
