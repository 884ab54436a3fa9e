package org.hdfsmeld.demo.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The arithmetic of the time dilation. */
class TestCalibration {
  @Test
  void slowsADeviceToAFractionOfTheHost() {
    // A device of 4000 MiB/s shall give 200/10 = 20 MiB/s: 200 times slower.
    Calibration calibration = Calibration.automatic(200, 4000, 10, 1000, 2, 1.4, 1000);
    assertThat(calibration.dilation()).isEqualTo(200);
    assertThat(calibration.slowdown()).isEqualTo(10);
    assertThat(calibration.rule())
        .isEqualTo("a device is about 10.0 times slower than a reader of stock HDFS");
  }

  @Test
  void staysWithinTheTimeAllowed() {
    // Two readers at 4000 MiB/s take 0.125 s for 1000 MiB, the other layout 1.4 times that: 0.3 s.
    Calibration calibration = Calibration.automatic(10, 4000, 10, 1000, 2, 1.4, 60);
    assertThat(calibration.dilation()).isEqualTo(200);
    assertThat(calibration.slowdown()).isEqualTo(0.5, within(1e-9));
    assertThat(calibration.rule()).isEqualTo("both paced scans end within 60 s");
  }

  @Test
  void neverSpeedsTheDeviceUp() {
    assertThat(Calibration.automatic(100_000, 4000, 10, 1000, 2, 1.4, 60).dilation()).isEqualTo(1);
  }

  @Test
  void roundsToTwoDigits() {
    assertThat(Calibration.automatic(300, 4071, 12, 1000, 2, 1.4, 1000).dilation()).isEqualTo(160);
    assertThat(Calibration.automatic(4071, 4071, 7.77, 1, 2, 1.4, 1000).dilation())
        .isEqualTo(7.8, within(1e-9));
  }

  @Test
  void reportsWhatAChosenDilationMeans() {
    Calibration calibration = Calibration.fixed(200, 4000, 100);
    assertThat(calibration.dilation()).isEqualTo(100);
    assertThat(calibration.slowdown()).isEqualTo(5);
  }
}
