/**
 * The volumes of a DataNode with their devices, hints and blocks. In come volumes that are added
 * and removed, replicas that appear and go, and what operators change over JMX; out goes what
 * streams and metrics work on. On HDFS's threads and those of JMX; a volume leaves on {@code
 * meld-close}.
 */
package org.hdfsmeld.datanode.volume;
