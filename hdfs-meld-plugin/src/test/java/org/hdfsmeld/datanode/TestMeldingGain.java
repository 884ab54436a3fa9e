package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.sim.NativeSimDevice;
import org.junit.jupiter.api.Test;

/**
 * What a reader of a whole block gains from melded pages, through the window and the real device.
 */
class TestMeldingGain {
  private static final int BLOCK_BYTES = 128 << 20;
  private static final int PACKET = 64 << 10;

  /** Simulated read throughput in bytes per second of a block, read by one sequential reader. */
  private static double throughput(boolean hinted, String window) throws IOException {
    Configuration conf = new Configuration();
    conf.setBoolean(MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL, hinted);
    conf.set(MeldKeys.READAHEAD_WINDOW, window);
    MeldConfiguration config = MeldConfiguration.read(conf);
    MeldVolume volume =
        new MeldVolume(
            "DS-1",
            new File("/data/1/current"),
            config,
            () -> NativeSimDevice.open("", config.profile()),
            new SimFailures(),
            BlockHints.BY_SIZE);
    try {
      volume.change(MeldMode.ACCOUNT, 1);
      BlockKey block = new BlockKey("BP-1", 1);
      BlockReader reader = volume.reader(block, () -> BLOCK_BYTES, true);
      for (long at = 0; at < BLOCK_BYTES; at += PACKET) {
        reader.consume(at, PACKET);
      }
      reader.close();
      Map<String, Long> counters = volume.getCounters();
      assertThat(counters.get("errors")).isZero();
      assertThat(counters.get("host_read_bytes")).isEqualTo(BLOCK_BYTES);
      assertThat(counters.get("unmapped_page_reads")).isZero();
      assertThat(counters.get("melded_reads") > 0).isEqualTo(hinted);
      return BLOCK_BYTES / (counters.get("read_active_ps") * 1e-12);
    } finally {
      volume.close();
    }
  }

  @Test
  void theDefaultWindowShowsThePublishedGain() throws IOException {
    double gain = throughput(true, "16m") / throughput(false, "16m");
    assertThat(gain).isBetween(1.35, 1.45);
  }

  @Test
  void aWindowBelowTheCrossoverShowsNone() throws IOException {
    double gain = throughput(true, "1m") / throughput(false, "1m");
    assertThat(gain).isBetween(0.9, 1.1);
  }
}
