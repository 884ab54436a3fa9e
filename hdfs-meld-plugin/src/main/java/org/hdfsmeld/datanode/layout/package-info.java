/**
 * In come reads, writes, truncations and deletes of blocks; out go commands on the slots of a
 * namespace, with the directive that the decision on the block calls for. On HDFS's threads, some
 * of which hold the dataset's locks: bookkeeping has short locks of its own.
 */
package org.hdfsmeld.datanode.layout;
