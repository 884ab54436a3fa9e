package org.hdfsmeld.demo.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import org.hdfsmeld.demo.layout.DataSet;
import org.hdfsmeld.demo.layout.VariantResult;
import org.hdfsmeld.demo.volumes.Counters;
import org.hdfsmeld.demo.volumes.DeviceFigures;
import org.junit.jupiter.api.Test;

/** From counters to figures. */
class TestFigures {
  @Test
  void grownCountersKeepTheDevicesSize() {
    Counters before = new Counters(Map.of("programs", 5L, "dies", 64L));
    Counters now = new Counters(Map.of("programs", 7L, "dies", 64L));
    Counters grown = now.since(before);
    assertThat(grown.get("programs")).isEqualTo(2);
    assertThat(grown.get("dies")).isEqualTo(64);
    assertThatThrownBy(() -> grown.get("unheard_of")).hasMessageContaining("unheard_of");
  }

  @Test
  void figuresOfADevice() {
    DeviceFigures device = DeviceFigures.of(List.of(Samples.counters(3000, 1500)), 2).get(0);
    assertThat(device.mibPerSecond()).isEqualTo(3000);
    assertThat(device.readActiveShare()).isEqualTo(0.5);
    assertThat(device.dieUtilisation()).isEqualTo(0.75);
    assertThat(device.channelUtilisation()).isEqualTo(0.5);
    assertThat(device.readerWaitSeconds()).isEqualTo(1.5);
    assertThat(device.meldedReadShare()).isEqualTo(0.3);
    assertThat(device.bufferReadShare()).isEqualTo(0.1);
  }

  @Test
  void meanDeviceWeighsByTimeOfReading() {
    DeviceFigures mean =
        DeviceFigures.mean(List.of(Samples.counters(3000, 1000), Samples.counters(1000, 500)), 2);
    assertThat(mean.mibPerSecond()).isEqualTo(2000);
    assertThat(mean.readActiveShare()).isEqualTo(0.5);
    assertThat(mean.readerWaitSeconds()).isEqualTo(1.5);
  }

  @Test
  void idleDevicesHaveNoRate() {
    Counters idle = Samples.counters(3000, 0).since(Samples.counters(3000, 0));
    assertThat(DeviceFigures.mean(List.of(idle), 2).mibPerSecond()).isZero();
  }

  @Test
  void deviceTimeIsWallTimeByDilation() {
    VariantResult variant = Samples.paced("normal", 30, "c");
    assertThat(variant.wallMibPerSecond()).isEqualTo(200);
    assertThat(variant.endToEndMibPerSecond()).isEqualTo(200 * Samples.DILATION);
    assertThat(variant.readerWaitShare()).isEqualTo(0.95, within(1e-6));
    // One simulated second of reading in a stage of 0.3.
    assertThat(variant.all().readActiveShare()).isEqualTo(1 / 0.3, within(1e-9));
  }

  @Test
  void stockIsMeasuredOnTheWall() {
    VariantResult stock = VariantResult.stock(Samples.scan(10, "c"));
    assertThat(stock.endToEndMibPerSecond()).isEqualTo(600);
    assertThat(stock.readerMibPerSecond()).isEqualTo(300);
  }

  @Test
  void shareOfMeldedPagesWritten() {
    DataSet data = DataSet.of("/x", true, 1, 1, 1, List.of(Samples.counters(1, 1)));
    assertThat(data.meldedMappedShare()).isEqualTo(0.75);
    assertThat(data.paddedPages()).isEqualTo(5);
  }
}
