/**
 * Writes data sets. In: formats, sizes, a directory. Out: the files, each written by a task on an
 * executor, and what was written, summed up by the driver.
 */
package org.hdfsmeld.spark.generate;
