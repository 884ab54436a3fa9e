/**
 * The data sets. In: paths. Out: their files, found by the driver; and the content that a file must
 * have, made on executors by whoever writes or checks it: rows of TPC-H, or pseudo-random bytes,
 * each from its place alone.
 */
package org.hdfsmeld.spark.data;
