package org.hdfsmeld.sim;

import static org.hdfsmeld.sim.NativeSimDevice.cString;
import static org.hdfsmeld.sim.NativeSimDevice.text;

import com.sun.jna.Pointer;
import java.nio.file.Path;

/**
 * Whole workloads, each on a device of its own: what the command {@code meldsim run} does; and
 * pages of what Spark jobs recorded, as {@code meldsim report} draws them. By libmeldsim_study.
 */
public final class SimRun {
  private SimRun() {}

  /**
   * Runs one; loads the library if that has not happened yet. Returns when the run is over and
   * cannot be interrupted. May be called from any number of threads.
   *
   * @param library path of libmeldsim_study.so, or empty for the packed one
   * @param request a JSON object; {@code docs/reference/c-abi.md} describes its keys
   * @return what {@code meldsim run --format json} prints
   * @throws SimException when the library cannot be loaded or refuses the request, with the
   *     simulator's {@link SimException#status}
   */
  public static String run(String library, String request) throws SimException {
    NativeLoader.STUDY.bind(library);
    return result(meldsim_run(LibMeldsim.ABI_VERSION, cString(request)));
  }

  /**
   * Makes a victim policy known to the profiles of runs in this process. Another one that was
   * registered under this name before is replaced for runs to come.
   *
   * @param library as of {@link #run}
   * @param name what profiles call it: small letters, digits and hyphens
   * @param about what it does, in a line
   * @throws SimException when the library cannot be loaded, or has a policy of that name itself
   */
  public static void register(
      String library, String name, String about, VictimPolicy.Factory factory) throws SimException {
    NativeLoader.STUDY.bind(library);
    int status =
        meldsim_register_victims(
            LibMeldsim.ABI_VERSION, cString(name), cString(about), VictimPolicies.table(factory));
    if (status < 0) {
      throw failure(status);
    }
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
    NativeLoader.STUDY.bind(library);
    return result(meldsim_report(cString(request)));
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
    NativeLoader.STUDY.bind(library);
    return result(
        meldsim_timeline_join(
            cString(folder.toString()), cString(output.toString()), redact ? 1 : 0));
  }

  private static String result(long status) throws SimException {
    if (status < 0) {
      throw failure((int) status);
    }
    return text(SimRun::meldsim_run_result);
  }

  /** The library's last error; its cause is what a policy threw, if one did. */
  private static SimException failure(int status) {
    SimException failure = new SimException(status, text(SimRun::meldsim_last_error));
    if (status == SimStatus.POLICY && VictimPolicies.THROWN.get() != null) {
      failure.initCause(VictimPolicies.THROWN.get());
    }
    VictimPolicies.THROWN.remove();
    return failure;
  }

  private static native int meldsim_last_error(byte[] buf, long len);

  private static native long meldsim_run(int abiVersion, byte[] request);

  private static native int meldsim_register_victims(
      int abiVersion, byte[] name, byte[] about, Pointer table);

  static native int meldsim_policy_error(byte[] text);

  private static native long meldsim_report(byte[] request);

  private static native long meldsim_timeline_join(byte[] folder, byte[] output, int redact);

  private static native long meldsim_run_result(byte[] buf, long len);
}
