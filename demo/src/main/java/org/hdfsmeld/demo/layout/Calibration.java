package org.hdfsmeld.demo.layout;

import java.util.Locale;

/**
 * How much slower than real a device must be, for the device and not the host to be the bottleneck.
 *
 * @param hostMibPerSecond measured: what one reader gets from HDFS without a simulated device
 * @param deviceMibPerSecond simulated: what one device delivers, the faster layout
 * @param slowdown how many times slower than the host a slowed device is
 * @param dilation wall seconds that one simulated second takes
 * @param rule what the dilation was chosen by
 */
public record Calibration(
    double hostMibPerSecond,
    double deviceMibPerSecond,
    double slowdown,
    double dilation,
    String rule) {

  /**
   * The dilation at which one device delivers {@code 1/slowdown} of what one reader of the host
   * could take, less if {@code paceSeconds}, the time of both paced scans, would be exceeded.
   *
   * @param dataMib what each scan reads
   * @param readers how many devices deliver at a time
   * @param expectedGain how many times slower the other layout is
   */
  static Calibration automatic(
      double hostMibPerSecond,
      double deviceMibPerSecond,
      double slowdown,
      double dataMib,
      int readers,
      double expectedGain,
      double paceSeconds) {
    double wanted = slowdown * deviceMibPerSecond / hostMibPerSecond;
    double deviceSeconds = dataMib / (readers * deviceMibPerSecond) * (1 + expectedGain);
    double longest = paceSeconds / deviceSeconds;
    double dilation = Math.max(1, Math.min(wanted, longest));
    String rule =
        wanted > longest
            ? format("both paced scans end within %.0f s", paceSeconds)
            : format("a device is about %.3g times slower than a reader of stock HDFS", slowdown);
    return of(hostMibPerSecond, deviceMibPerSecond, round(dilation), rule);
  }

  /** A dilation that the user chose. */
  public static Calibration fixed(
      double hostMibPerSecond, double deviceMibPerSecond, double dilation) {
    return of(hostMibPerSecond, deviceMibPerSecond, dilation, "as given");
  }

  /** Two lines: the first line says what was chosen and why, the second what it means. */
  public String describe() {
    return String.format(
        Locale.ROOT,
        "time dilation %,.0f (rule: %s);%n"
            + "a device, simulated %,.0f MiB/s, then gives %.1f MiB/s of wall time, %.1f times less"
            + " than a reader took, measured %,.0f MiB/s",
        dilation,
        rule,
        deviceMibPerSecond,
        deviceMibPerSecond / dilation,
        slowdown,
        hostMibPerSecond);
  }

  private static Calibration of(double host, double device, double dilation, String rule) {
    return new Calibration(host, device, dilation * host / device, dilation, rule);
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  /** To two significant digits, so that the number can be typed. */
  private static double round(double value) {
    double unit = Math.pow(10, Math.floor(Math.log10(value)) - 1);
    return Math.max(1, Math.round(value / unit) * unit);
  }
}
