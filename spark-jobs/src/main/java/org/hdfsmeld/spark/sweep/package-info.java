/**
 * Simulations without HDFS. The driver spans a grid of profiles, settings and workloads, and deals
 * its cells to tasks; on an executor each cell runs in the native simulator, in the task's thread.
 * Out: a row a cell, in the grid's order.
 */
package org.hdfsmeld.spark.sweep;
