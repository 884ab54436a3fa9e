package org.hdfsmeld.demo.report;

import java.util.ArrayList;
import java.util.List;
import org.hdfsmeld.demo.layout.VariantResult;
import org.hdfsmeld.demo.volumes.Sampler;

/** Samples of page counts turned into throughput over device time. */
final class Timeline {
  // Half a second to each side: a reader takes its megabytes one by one.
  private static final int REACH = 2;

  private Timeline() {}

  /**
   * Throughput of one device of a paced scan.
   *
   * @return points of device milliseconds and MiB per device second
   */
  static List<double[]> of(VariantResult variant, int device) {
    List<Sampler.Sample> samples = variant.samples();
    List<double[]> points = new ArrayList<>();
    if (samples.isEmpty()) {
      return points;
    }
    double mibPerPage = variant.all().readMib() / Math.max(1, pages(samples));
    for (int i = 0; i < samples.size(); i++) {
      Sampler.Sample from = samples.get(Math.max(0, i - REACH));
      Sampler.Sample to = samples.get(Math.min(samples.size() - 1, i + REACH));
      double deviceSeconds = (to.wallSeconds() - from.wallSeconds()) / variant.dilation();
      if (deviceSeconds > 0) {
        double mib = (to.pages().get(device) - from.pages().get(device)) * mibPerPage;
        double millis = 1e3 * samples.get(i).wallSeconds() / variant.dilation();
        points.add(new double[] {millis, mib / deviceSeconds});
      }
    }
    return points;
  }

  private static long pages(List<Sampler.Sample> samples) {
    return sum(samples.get(samples.size() - 1)) - sum(samples.get(0));
  }

  private static long sum(Sampler.Sample sample) {
    return sample.pages().stream().mapToLong(Long::longValue).sum();
  }
}
