/** The block trace: records of HDFS's threads and devices, in files that meldsim replays. */
package org.hdfsmeld.trace;
