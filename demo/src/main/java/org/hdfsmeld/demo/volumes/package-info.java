/**
 * The plugin's volumes in this JVM, as an operator sees them over JMX. In: settings that they take
 * while they run. Out: counters, and figures of the devices from them; a daemon thread samples them
 * over time.
 */
package org.hdfsmeld.demo.volumes;
