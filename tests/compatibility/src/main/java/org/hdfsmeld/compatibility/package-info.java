/**
 * Runs the integration tests, compiled once, with the plugin's jar, built once, on each Hadoop and
 * Java: {@code ./meld compatibility}.
 *
 * <ul>
 *   <li>{@link org.hdfsmeld.compatibility.Compatibility} reads the command line and goes through
 *       the cells, one after the other;
 *   <li>a {@code Cell} is one Hadoop on one Java, with the class paths of both;
 *   <li>a {@code TestJvm} runs one test class in JVMs of its own, and {@code Outcomes} keeps what
 *       came of it under {@code target/compatibility}, so that an interrupted run goes on;
 *   <li>a {@code Table} shows the cells.
 * </ul>
 */
package org.hdfsmeld.compatibility;
