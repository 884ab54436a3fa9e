package org.hdfsmeld.demo.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.demo.layout.VariantResult;

/**
 * Whether a bar was met.
 *
 * @param bar what is asked
 * @param value what was found
 */
record Verdict(String bar, String value, boolean met) {
  static final double LEAST_GAIN = 1.30;
  static final double CONTROL_TOLERANCE = 0.03;
  static final double LEAST_WAIT_SHARE = 0.90;

  static List<Verdict> of(DemoResult result) {
    List<Verdict> verdicts = new ArrayList<>();
    double gain = result.gainEndToEnd();
    verdicts.add(
        result.directive()
            ? new Verdict(
                "gain melded / normal, end to end, at least 1.30",
                format("%.2f", gain),
                gain >= LEAST_GAIN)
            : new Verdict(
                "control: without the directive the gain is 1.00 ± 0.03",
                format("%.3f", gain),
                Math.abs(gain - 1) <= CONTROL_TOLERANCE));
    for (VariantResult variant : List.of(result.normal(), result.melded())) {
      verdicts.add(
          new Verdict(
              "readers wait for the device at least 90 % of their time, "
                  + result.displayName(variant),
              format("%.1f %%", 100 * variant.readerWaitShare()),
              variant.readerWaitShare() >= LEAST_WAIT_SHARE));
    }
    verdicts.add(
        new Verdict(
            "all variants read the same content",
            result.checksumsAgree()
                ? "checksum " + result.stock().scan().checksum()
                : "they differ",
            result.checksumsAgree()));
    return verdicts;
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
