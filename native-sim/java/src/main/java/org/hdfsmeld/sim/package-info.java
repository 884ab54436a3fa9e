/**
 * The simulated device as Java sees it: its interface, its statuses and the binding to libmeldsim.
 */
package org.hdfsmeld.sim;
