package org.hdfsmeld.sim;

import static org.hdfsmeld.sim.NativeSimDevice.cString;
import static org.hdfsmeld.sim.NativeSimDevice.must;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** One timeline of what DataNodes and Spark recorded: what {@code meldsim timeline --join} does. */
public final class SimTimeline {
  private SimTimeline() {}

  /**
   * Joins what is in a folder; loads the library if that has not happened yet.
   *
   * @param library path of the library, or empty for the packed one; see {@link NativeLoader#load}
   * @param output the file to write, for Perfetto
   * @param redact whether paths, hosts, devices, clients and applications are shown as hashes
   * @return counts, as a JSON object
   * @throws SimException when the library cannot be loaded, or nothing can be joined
   */
  public static String join(String library, Path folder, Path output, boolean redact)
      throws SimException {
    NativeLoader.load(library);
    long bytes =
        must(
            LibMeldsim.meldsim_timeline_join(
                cString(folder.toString()), cString(output.toString()), redact ? 1 : 0));
    byte[] text = new byte[Math.toIntExact(bytes)];
    LibMeldsim.meldsim_run_result(text, text.length);
    return new String(text, 0, text.length - 1, StandardCharsets.UTF_8);
  }
}
