/**
 * The door to Hadoop: what the plugin knows of a DataNode's private interfaces, but for what must
 * be in Hadoop's own packages. In comes every file operation of HDFS, which is done first, as in
 * stock HDFS; out goes what of it is of blocks. On HDFS's threads.
 */
package org.hdfsmeld.datanode.hadoop;
