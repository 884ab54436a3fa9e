package org.hdfsmeld.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Device profiles that tests make up. */
final class Profiles {
  private Profiles() {}

  /**
   * A TLC device of 8 channels with 2 dies each, 6 GiB.
   *
   * @param sets the [sets] section's text
   * @return its file
   */
  static String divided(Path directory, String sets) throws IOException {
    return write(directory, 8, 2, 64, sets);
  }

  static String write(
      Path directory, int channels, int diesPerChannel, int blocksPerPlane, String sets)
      throws IOException {
    Path file = Files.createTempFile(directory, "profile", ".toml");
    Files.writeString(
        file,
        """
        name = "test"
        description = "made up for a test"

        [geometry]
        channels = %d
        dies_per_channel = %d
        planes_per_die = 1
        blocks_per_plane = %d
        wordlines_per_block = 128
        page_size = "16KiB"

        [bus]
        rate = "800MT/s"
        width_bits = 8

        [timing]
        read = ["58us", "78us", "107us"]
        melded_read = "166us"
        program = "2000us"
        erase = "2274us"

        [controller]
        lba_size = "4KiB"
        write_buffer = "16MiB"

        [ftl]
        over_provisioning_percent = 20

        %s
        """
            .formatted(channels, diesPerChannel, blocksPerPlane, sets));
    return file.toString();
  }
}
