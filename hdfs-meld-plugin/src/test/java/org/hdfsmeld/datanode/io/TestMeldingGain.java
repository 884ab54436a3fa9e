package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NativeSimDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a reader of a whole block gains from melded pages, through the window and the real device.
 */
class TestMeldingGain {
  private static final int BLOCK_BYTES = 128 << 20;
  private static final int PACKET = 64 << 10;

  /** Simulated read throughput in bytes per second of a block, read by one sequential reader. */
  private static double throughput(boolean hinted, String... keysAndValues) throws IOException {
    Configuration conf = new Configuration();
    conf.setBoolean(MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL, hinted);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      conf.set(keysAndValues[i], keysAndValues[i + 1]);
    }
    MeldConfiguration config = MeldConfiguration.read(conf);
    MeldVolume volume =
        FakeDevice.alone(
            "DS-1",
            new File("/data/1/current"),
            config,
            () -> NativeSimDevice.open("", config.devices().profile()),
            HintSource.NONE);
    try {
      volume.change(MeldMode.ACCOUNT, 1);
      BlockKey block = new BlockKey("BP-1", 1);
      ReadStream reader =
          new ReadStream(volume, block, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
      reader.longRead();
      for (long at = 0; at < BLOCK_BYTES; at += PACKET) {
        reader.consume(at, PACKET);
      }
      reader.close();
      Map<String, Long> counters = FakeDevice.counters(volume);
      assertThat(counters.get("errors")).isZero();
      assertThat(counters.get("host_read_bytes")).isEqualTo(BLOCK_BYTES);
      assertThat(counters.get("unmapped_page_reads")).isZero();
      assertThat(counters.get("melded_reads") > 0).isEqualTo(hinted);
      return BLOCK_BYTES / (counters.get("read_active_ps") * 1e-12);
    } finally {
      volume.close();
    }
  }

  private static double gain(String... keysAndValues) throws IOException {
    return throughput(true, keysAndValues) / throughput(false, keysAndValues);
  }

  @Test
  void theDefaultWindowShowsThePublishedGain() throws IOException {
    assertThat(gain()).isBetween(1.40, 1.42);
  }

  @Test
  void aFixedWindowShowsThePublishedGain() throws IOException {
    assertThat(gain(MeldKeys.READAHEAD_MODE, "fixed")).isBetween(1.41, 1.42);
  }

  @Test
  void aWindowBelowTheCrossoverShowsNone() throws IOException {
    assertThat(gain(MeldKeys.READAHEAD_WINDOW, "1m", MeldKeys.READAHEAD_REQUEST, "1m"))
        .isBetween(0.9, 1.1);
  }

  /**
   * The table of docs/explanation/windows.md: what melding all blocks would do under a stock
   * kernel.
   */
  @ParameterizedTest
  @CsvSource({
    "128k, 1280k, false, 0.51",
    "128k,  512k, true,  0.70",
    "128k, 1280k, true,  0.78",
    "128k,    4m, true,  1.41",
    "512k, 1280k, false, 0.96",
    "512k, 1280k, true,  1.04",
    "  1m, 1280k, false, 1.40",
    "  1m, 1280k, true,  1.15",
    "  2m, 1280k, false, 1.41",
    "  2m, 1280k, true,  1.41",
  })
  void onAnUnmodifiedKernel(String readAhead, String maxRequest, String fadvise, double expected)
      throws IOException {
    double gain =
        gain(
            MeldKeys.READAHEAD_MODE,
            "linux",
            MeldKeys.READAHEAD_LINUX_READ_AHEAD,
            readAhead,
            MeldKeys.READAHEAD_LINUX_MAX_REQUEST,
            maxRequest,
            MeldKeys.READAHEAD_LINUX_FADVISE,
            fadvise);
    assertThat(gain).isCloseTo(expected, within(0.006));
  }
}
