/**
 * In come changed blocks, put into a queue by any thread without waiting; out go the files of a
 * device's state, written by one thread {@code meld-files-*}. They are read when the device opens.
 */
package org.hdfsmeld.datanode.state;
