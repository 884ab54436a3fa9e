/**
 * In come counts, from any thread and without locks. Out go JMX beans and metrics2 records, on the
 * threads of JMX and of Hadoop's metrics system, and one line of the log for each kind of failure.
 */
package org.hdfsmeld.datanode.metrics;
