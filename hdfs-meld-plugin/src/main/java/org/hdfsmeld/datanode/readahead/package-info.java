/**
 * In come a reader's packets; out go requests that run ahead of it, as the plugin or as a Linux
 * kernel makes them. On the reader's thread, which allocates nothing here.
 */
package org.hdfsmeld.datanode.readahead;
