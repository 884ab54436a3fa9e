package org.hdfsmeld.datanode.sink;

import java.io.File;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.sim.Directive;

/** Where the decision how a block will be read goes when its data is written. */
public interface DirectiveSink {
  /** Leaves everything as it is. */
  DirectiveSink NONE = (settled, file) -> Directive.NONE;

  /**
   * Data of a block is written as decided. Never throws, and changes no byte of the file.
   *
   * @param settled the decision, in which nothing is left open
   * @param file the block's file, once for each decision on it; null for all further commands, and
   *     where a file must not be touched
   * @return the directive of the simulated device's command, {@link Directive#NONE} for none
   */
  int apply(HintDecision settled, File file);

  /** Tells both, and gives the device the directive of the one that has one. */
  static DirectiveSink both(DirectiveSink one, DirectiveSink other) {
    return (settled, file) -> one.apply(settled, file) | other.apply(settled, file);
  }
}
