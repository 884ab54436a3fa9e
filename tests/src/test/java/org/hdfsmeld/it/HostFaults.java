package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/**
 * What a host can do to a process, on command: a library that is preloaded into it. Its source is
 * host_faults.c; it is compiled by the C compiler that the build needs anyway.
 */
final class HostFaults {
  private static final Path SOURCE = Path.of("src/test/c/host_faults.c");
  private static final int CLOCK_SECONDS = 0;
  private static final int NO_MEMORY = Long.BYTES;
  private static final int STOP_WRITE = 2 * Long.BYTES;
  private static final int STOPPED = 3 * Long.BYTES;
  private static final int BYTES = 4 * Long.BYTES;

  /** Files of a device's state, in the library's order. */
  enum StateFile {
    JOURNAL,
    SNAPSHOT
  }

  private final Path library;
  private final Path file;
  private final MappedByteBuffer commands;

  private HostFaults(Path library, Path file) throws IOException {
    this.library = library;
    this.file = file;
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      commands = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
      commands.order(ByteOrder.nativeOrder());
    }
  }

  /** Compiles the library into a directory. */
  static HostFaults in(Path directory) throws IOException, InterruptedException {
    Path library = directory.resolve("host_faults.so");
    Process compiler =
        new ProcessBuilder(
                "cc",
                "-shared",
                "-fPIC",
                "-O1",
                "-o",
                library.toString(),
                SOURCE.toString(),
                "-ldl")
            .redirectErrorStream(true)
            .start();
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(compiler.waitFor()).as("%s: %s", SOURCE, said).isZero();
    return new HostFaults(library, directory.resolve("host_faults.commands"));
  }

  /** The environment of a process that is to have the faults. */
  Map<String, String> environment() {
    return Map.of("LD_PRELOAD", library.toString(), "HOST_FAULTS", file.toString());
  }

  /** From now on the wall clock is so much ahead, or behind. */
  void setClock(Duration ahead) {
    commands.putLong(CLOCK_SECONDS, ahead.toSeconds());
  }

  /** Whether the simulator gets no more memory from now on. */
  void setNoMemory(boolean none) {
    commands.putLong(NO_MEMORY, none ? 1 : 0);
  }

  /** The next write to such a file stops half done, and its thread with it. */
  void stopWriteTo(StateFile file) {
    commands.putLong(STOP_WRITE, 1 + file.ordinal());
  }

  /** Whether a write has stopped. */
  boolean isWriteStopped() {
    return commands.getLong(STOPPED) != 0;
  }

  /** Further writes do not stop. */
  void stopNoWrite() {
    commands.putLong(STOP_WRITE, 0);
  }
}
