/**
 * In come commands of volumes, on HDFS's threads; out go calls of {@link
 * org.hdfsmeld.sim.SimDevice}, all on the device's own thread {@code meld-device-*}, and
 * completions. A second thread of the device, {@code meld-files-*}, writes its files.
 */
package org.hdfsmeld.datanode.device;
