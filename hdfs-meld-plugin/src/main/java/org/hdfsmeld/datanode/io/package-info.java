/**
 * In comes every file operation of HDFS, which is done first, as in stock HDFS; out go the reads
 * and writes of blocks on their volume's device. On HDFS's threads: those of client streams wait
 * for the device, those under the dataset's locks do not.
 */
package org.hdfsmeld.datanode.io;
