/** The block trace: one record for each block I/O of a DataNode, on demand. */
package org.hdfsmeld.trace;
