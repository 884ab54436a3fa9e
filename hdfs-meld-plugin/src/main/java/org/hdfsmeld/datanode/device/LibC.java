package org.hdfsmeld.datanode.device;

import com.sun.jna.Native;
import org.hdfsmeld.sim.NativeLoader;

/** The one call of Linux that Java does not have. */
final class LibC {
  /** Of include/uapi/linux/prctl.h. */
  private static final int PR_SET_TIMERSLACK = 29;

  static {
    NativeLoader.prepare();
    Native.register(LibC.class, "c");
  }

  private LibC() {}

  private static native int prctl(int option, long argument);

  /** From now on sleeps of this thread end when they are due; Linux adds 50 us otherwise. */
  static void sleepPrecisely() {
    prctl(PR_SET_TIMERSLACK, 1);
  }
}
