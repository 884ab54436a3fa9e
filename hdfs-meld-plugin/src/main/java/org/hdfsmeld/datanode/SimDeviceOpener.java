package org.hdfsmeld.datanode;

import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;

/** Opens a fresh simulated device of the configured profile. */
@FunctionalInterface
interface SimDeviceOpener {
  SimDevice open() throws SimException;
}
