package org.hdfsmeld.sim;

/** Statuses of libmeldsim's C ABI: 0 is success, errors are below, and numbers never change. */
public final class SimStatus {
  public static final int OK = 0;
  public static final int ARGUMENT = -1;
  public static final int PROFILE = -2;
  public static final int NAMESPACE = -3;
  public static final int RANGE = -4;
  public static final int CAPACITY = -5;
  public static final int UNSUPPORTED = -6;
  public static final int TIMEOUT = -7;
  public static final int CLOSED = -8;
  public static final int PANIC = -9;
  public static final int ABI = -10;
  public static final int TICKET = -11;
  public static final int SNAPSHOT = -13;
  public static final int CLOCK = -14;
  public static final int ZONE = -15;
  public static final int POLICY = -16;

  /** By their numbers; -12 is of the tests' library. */
  private static final String[] NAMES =
      ("OK,ARGUMENT,PROFILE,NAMESPACE,RANGE,CAPACITY,UNSUPPORTED,TIMEOUT,CLOSED,PANIC,ABI,TICKET,"
              + "status -12,SNAPSHOT,CLOCK,ZONE,POLICY")
          .split(",");

  private SimStatus() {}

  /** Whether the device is of no use any more after this status. */
  public static boolean isFatal(long status) {
    return status == PANIC
        || status == CLOSED
        || status == ABI
        || status == CLOCK
        || status == POLICY;
  }

  /** The status' name as in {@code meldsim.h}, without its prefix. */
  public static String name(long status) {
    return status <= 0 && -status < NAMES.length ? NAMES[(int) -status] : "status " + status;
  }
}
