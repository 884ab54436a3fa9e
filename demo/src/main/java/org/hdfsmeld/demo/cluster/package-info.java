/**
 * A NameNode, DataNodes with the plugin, and Spark, in this JVM. In: a configuration and a
 * workspace. Out: clients and a session. They have threads of their own; started and stopped by the
 * caller's.
 */
package org.hdfsmeld.demo.cluster;
