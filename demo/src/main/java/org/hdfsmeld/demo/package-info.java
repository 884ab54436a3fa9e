/**
 * An embedded HDFS on simulated devices and Spark, all in one JVM. Here are the two command lines;
 * each runs in the main thread. Everything else has a package below; each knows only those above it
 * in this list:
 *
 * <ol>
 *   <li>{@code process}: what the JVM has to do with the world around it
 *   <li>{@code volumes}: the simulated volumes, over JMX
 *   <li>{@code cluster}: the embedded HDFS and Spark
 *   <li>{@code layout}: stock, normal and melded, run one after the other
 *   <li>{@code report}: their figures, as a table
 *   <li>{@code placement}: which device new blocks go to
 * </ol>
 */
package org.hdfsmeld.demo;
