/**
 * In come blocks that are created, read or laid out; out goes how they will be read. HDFS's threads
 * wait a bounded time at most: {@code meld-hints} asks the NameNodes, {@code meld-read-history-*}
 * measures devices and saves the history of reads.
 */
package org.hdfsmeld.datanode.hint;
