/**
 * In comes the decision on a block whose data is written; out goes the write-lifetime hint of the
 * block's file. On HDFS's writing thread.
 */
package org.hdfsmeld.datanode.sink;
