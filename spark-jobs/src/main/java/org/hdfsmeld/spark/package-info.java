/** Spark jobs that write TPC-H data, read it back, and measure what the reader gets. */
package org.hdfsmeld.spark;
