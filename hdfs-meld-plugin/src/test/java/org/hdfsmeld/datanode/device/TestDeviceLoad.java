package org.hdfsmeld.datanode.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TestDeviceLoad {
  private final Map<String, Long> counters = new HashMap<>();
  private long nowNs;
  private final DeviceLoad load = new DeviceLoad(() -> nowNs);

  @BeforeEach
  void firstSample() {
    pass(1_000_000, 0, 0, 0, 0);
    assertThat(load.outstandingBytes()).isZero();
  }

  /** Simulated time passes, in which commands complete. */
  private void pass(long ps, long reads, long readPs, long writes, long writePs) {
    nowNs += DeviceLoad.PERIOD_NS;
    counters.merge("now_ps", ps, Long::sum);
    counters.merge("read_commands", reads, Long::sum);
    counters.merge("host_read_bytes", reads * 4096, Long::sum);
    counters.merge("read_latency_ps", reads * readPs, Long::sum);
    counters.merge("write_commands", writes, Long::sum);
    counters.merge("host_written_bytes", writes * 65536, Long::sum);
    counters.merge("write_latency_ps", writes * writePs, Long::sum);
    load.sample(
        counters.get("now_ps"),
        counters.get("read_commands") + counters.get("write_commands"),
        counters.get("host_read_bytes") + counters.get("host_written_bytes"),
        counters.get("read_latency_ps") + counters.get("write_latency_ps"));
  }

  @Test
  void oneReaderKeepsOneRequestOutstanding() {
    pass(100_000, 10, 10_000, 0, 0);
    assertThat(load.outstandingBytes()).isEqualTo(4096);
  }

  @Test
  void readsAndWritesCountTogether() {
    pass(100_000, 10, 10_000, 10, 30_000);
    // Four commands in the mean, of (4096 + 65536) / 2 bytes.
    assertThat(load.outstandingBytes()).isEqualTo(4 * (4096 + 65536) / 2);
  }

  @Test
  void onlyWhatHappenedSinceTheLastSampleCounts() {
    pass(100_000, 1000, 10_000, 0, 0);
    assertThat(load.outstandingBytes()).isEqualTo(100 * 4096);
    pass(100_000, 0, 0, 0, 0);
    assertThat(load.outstandingBytes()).isZero();
  }

  @Test
  void aDeviceThatIsNotSampledAnyMoreDoesNothing() {
    pass(100_000, 10, 10_000, 0, 0);
    nowNs += 2 * DeviceLoad.PERIOD_NS - 1;
    assertThat(load.outstandingBytes()).isEqualTo(4096);
    nowNs += 1;
    assertThat(load.outstandingBytes()).isZero();
  }
}
