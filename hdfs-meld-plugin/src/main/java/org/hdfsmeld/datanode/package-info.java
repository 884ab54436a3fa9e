/** Runs a stock DataNode's volumes on simulated devices: interception, hints, windows, metrics. */
package org.hdfsmeld.datanode;
