package org.hdfsmeld.spark.sweep;

import java.io.Serializable;
import java.util.LinkedHashMap;
import org.apache.spark.SparkFiles;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimRun;
import org.hdfsmeld.sim.SimStatus;

/**
 * One simulation of a grid.
 *
 * @param number its place in the grid, from 0
 * @param axes where in the grid it is: the name and the value on each axis
 * @param request what the simulator is asked for
 */
record Cell(int number, LinkedHashMap<String, String> axes, CellRequest request)
    implements Serializable {

  /** Simulates it in this process. What the simulator refuses is a row with its error. */
  CellRow simulate() throws SimException {
    try {
      return CellRow.of(this, SimRun.run("", request.toJson(SparkFiles::get)));
    } catch (SimException e) {
      if (e.status() == SimStatus.OK || e.status() == SimStatus.ABI) {
        throw e; // No simulator at all: no fault of the cell.
      }
      return CellRow.refused(this, e.getMessage());
    }
  }
}
