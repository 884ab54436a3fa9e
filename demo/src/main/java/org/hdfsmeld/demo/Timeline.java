package org.hdfsmeld.demo;

import java.util.ArrayList;
import java.util.List;

/** Samples of byte counts turned into throughput over device time. */
final class Timeline {
  // A reader's requests of 1 MiB come one by one; half a second to each side smooths that.
  private static final int REACH = 2;
  private static final double MIB = 1L << 20;

  private Timeline() {}

  /**
   * Throughput of one device.
   *
   * @return points of device milliseconds and MiB per device second
   */
  static List<double[]> of(List<Sampler.Sample> samples, int device, double dilation) {
    List<double[]> points = new ArrayList<>();
    for (int i = 0; i < samples.size(); i++) {
      Sampler.Sample from = samples.get(Math.max(0, i - REACH));
      Sampler.Sample to = samples.get(Math.min(samples.size() - 1, i + REACH));
      double deviceSeconds = (to.wallSeconds() - from.wallSeconds()) / dilation;
      if (deviceSeconds > 0) {
        double mib = (to.readBytes().get(device) - from.readBytes().get(device)) / MIB;
        double millis = 1e3 * samples.get(i).wallSeconds() / dilation;
        points.add(new double[] {millis, mib / deviceSeconds});
      }
    }
    return points;
  }
}
