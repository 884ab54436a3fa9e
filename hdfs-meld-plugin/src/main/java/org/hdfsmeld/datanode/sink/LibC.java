package org.hdfsmeld.datanode.sink;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import java.io.File;
import java.nio.charset.Charset;
import java.util.Arrays;
import org.hdfsmeld.sim.NativeLoader;

/** The few calls of Linux that Java does not have. */
public final class LibC {
  private static final int O_RDONLY = 0;
  private static final int O_CLOEXEC = 0x80000;

  /** Of include/uapi/linux/fcntl.h: F_LINUX_SPECIFIC_BASE + 11 and + 12. */
  static final int F_GET_RW_HINT = 1024 + 11;

  private static final int F_SET_RW_HINT = 1024 + 12;

  /** Of include/uapi/linux/prctl.h. */
  private static final int PR_SET_TIMERSLACK = 29;

  static {
    NativeLoader.prepare();
    Native.register(LibC.class, "c");
  }

  private LibC() {}

  static native int open(byte[] path, int flags) throws LastErrorException;

  static native int fcntl(int fd, int command, long[] argument) throws LastErrorException;

  static native int close(int fd) throws LastErrorException;

  private static native int prctl(int option, long argument);

  /** From now on sleeps of this thread end when they are due; Linux adds 50 us otherwise. */
  public static void sleepPrecisely() {
    prctl(PR_SET_TIMERSLACK, 1);
  }

  /**
   * Sets the write-lifetime hint of a file's inode.
   *
   * @return the hint that the inode has then
   * @throws LastErrorException when the kernel refuses: EINVAL where it does not know the hint
   */
  static long setWriteLifetime(File file, long hint) {
    int fd = open(path(file), O_RDONLY | O_CLOEXEC);
    try {
      long[] value = {hint};
      fcntl(fd, F_SET_RW_HINT, value);
      fcntl(fd, F_GET_RW_HINT, value);
      return value[0];
    } finally {
      close(fd);
    }
  }

  static byte[] path(File file) {
    byte[] bytes = file.getPath().getBytes(Charset.defaultCharset());
    return Arrays.copyOf(bytes, bytes.length + 1);
  }
}
