/**
 * Data that lives for different times, side by side. The driver lists what a round writes and
 * deletes what has expired; tasks write a file each. Out: what was written and deleted. What that
 * did to the devices is in the record.
 */
package org.hdfsmeld.spark.churn;
