/**
 * Work on Spark's executors. The driver gives items and a function, one task an item, and gets the
 * results in order; sessions and free slots are the driver's too. In the tasks: files read request
 * by request, and files that appear whole or not at all.
 */
package org.hdfsmeld.spark.task;
