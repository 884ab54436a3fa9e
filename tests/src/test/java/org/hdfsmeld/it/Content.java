package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Known bytes into files, and the check that the same come back. */
final class Content {
  private Content() {}

  static byte[] random(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  static byte[] write(FileSystem fileSystem, Path path, long seed, int length) throws IOException {
    byte[] bytes = random(seed, length);
    try (FSDataOutputStream out = fileSystem.create(path)) {
      out.write(bytes);
      // Makes the devices program what else would stay in their write buffers.
      out.hsync();
    }
    return bytes;
  }

  /** The whole file, in reads whose sizes are neither powers of two nor constant. */
  static byte[] read(FileSystem fileSystem, Path path) throws IOException {
    int length = (int) fileSystem.getFileStatus(path).getLen();
    byte[] bytes = new byte[length];
    try (FSDataInputStream in = fileSystem.open(path)) {
      int at = 0;
      for (int step = 1; at < length; step = step * 3 % 70_001) {
        int read = in.read(bytes, at, Math.min(step, length - at));
        if (read < 0) {
          break;
        }
        at += read;
      }
      assertThat(at).as("bytes read of %s", path).isEqualTo(length);
    }
    return bytes;
  }

  static void assertSame(FileSystem fileSystem, Path path, byte[] expected) throws IOException {
    byte[] actual = read(fileSystem, path);
    assertThat(Arrays.mismatch(actual, expected)).as("first wrong byte of %s", path).isEqualTo(-1);
  }

  static byte[] concat(byte[] first, byte[] second) {
    byte[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }
}
