package org.hdfsmeld.sim;

import static org.hdfsmeld.sim.NativeSimDevice.cString;
import static org.hdfsmeld.sim.NativeSimDevice.must;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Whole workloads, each on a device of its own: what the command {@code meldsim run} does; and
 * pages of what Spark jobs recorded, as {@code meldsim report} draws them.
 */
public final class SimRun {
  private SimRun() {}

  /**
   * Runs one; loads the library if that has not happened yet. Returns when the run is over and
   * cannot be interrupted. May be called from any number of threads.
   *
   * @param library path of the library, or empty for the packed one; see {@link NativeLoader#load}
   * @param request a JSON object; {@code docs/reference/c-abi.md} describes its keys
   * @return what {@code meldsim run --format json} prints
   * @throws SimException when the library cannot be loaded or refuses the request, with the
   *     simulator's {@link SimException#status}
   */
  public static String run(String library, String request) throws SimException {
    NativeLoader.load(library);
    return result(must(LibMeldsim.meldsim_run(LibMeldsim.ABI_VERSION, cString(request))));
  }

  /**
   * Compares what jobs recorded, and writes a page of it; loads the library if that has not
   * happened yet.
   *
   * @param library as of {@link #run}
   * @param request a JSON object; {@code docs/reference/c-abi.md} describes its keys
   * @return a JSON object: {@code text} for a terminal, and whether all {@code holds} that was
   *     expected
   * @throws SimException when the library cannot be loaded, or a record or an expectation is none
   */
  public static String report(String library, String request) throws SimException {
    NativeLoader.load(library);
    return result(must(LibMeldsim.meldsim_report(cString(request))));
  }

  /**
   * Joins what DataNodes and Spark recorded to one timeline, as {@code meldsim timeline --join}
   * does; loads the library if that has not happened yet.
   *
   * @param library as of {@link #run}
   * @param output the file to write, for Perfetto
   * @param redact whether paths, hosts, devices, clients and applications are shown as hashes
   * @return counts, as a JSON object
   * @throws SimException when the library cannot be loaded, or nothing can be joined
   */
  public static String joinTimeline(String library, Path folder, Path output, boolean redact)
      throws SimException {
    NativeLoader.load(library);
    return result(
        must(
            LibMeldsim.meldsim_timeline_join(
                cString(folder.toString()), cString(output.toString()), redact ? 1 : 0)));
  }

  private static String result(long bytes) {
    byte[] text = new byte[Math.toIntExact(bytes)];
    LibMeldsim.meldsim_run_result(text, text.length);
    return new String(text, 0, text.length - 1, StandardCharsets.UTF_8);
  }
}
