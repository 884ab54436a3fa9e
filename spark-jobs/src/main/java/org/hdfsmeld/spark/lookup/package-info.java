/**
 * Reads small records at random places. The driver plans the places and deals them to tasks; the
 * threads of a task on an executor read by position. Out: latencies, reads a second, checksum.
 */
package org.hdfsmeld.spark.lookup;
