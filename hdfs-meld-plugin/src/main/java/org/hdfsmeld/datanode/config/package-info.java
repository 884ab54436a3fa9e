/**
 * In comes Hadoop's {@code Configuration}, out go immutable records; a bad value is an error that
 * names key and remedy. On the thread that starts the DataNode.
 */
package org.hdfsmeld.datanode.config;
