/** Hadoop's own test classes, run on stock HDFS and with the plugin, and compared test by test. */
package org.hdfsmeld.conformance;
