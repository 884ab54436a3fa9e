/**
 * In come commands of volumes; out go calls of {@link org.hdfsmeld.sim.SimDevice}, and tickets to
 * wait for. HDFS's threads never make a call that may hang: {@code meld-call-*} make them, and in
 * account mode one {@code meld-device-*} does, of which nobody waits.
 */
package org.hdfsmeld.datanode.device;
