/**
 * In comes what HDFS does with the stream of a block; out go reads and writes on its volume's
 * device. On HDFS's threads: those of client streams wait for the device, those under the dataset's
 * locks do not.
 */
package org.hdfsmeld.datanode.io;
