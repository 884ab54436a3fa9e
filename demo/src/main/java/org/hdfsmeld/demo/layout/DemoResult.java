package org.hdfsmeld.demo.layout;

import java.util.List;
import java.util.stream.Stream;
import org.hdfsmeld.report.Published;

/**
 * Everything the demo found.
 *
 * @param directive whether the melded data set was written with the directive; else it is a control
 * @param gainEndToEnd simulated: melded by normal, as Spark saw it
 * @param gainDevice simulated: melded by normal, devices alone
 */
public record DemoResult(
    boolean directive,
    String profile,
    long windowBytes,
    Settings.WindowMode windowMode,
    List<DataSet> dataSets,
    Calibration calibration,
    VariantResult stock,
    VariantResult normal,
    VariantResult melded,
    double gainEndToEnd,
    double gainDevice,
    double gainPublished,
    String publishedSource,
    boolean checksumsAgree) {

  /** Compares the scans. */
  public static DemoResult of(
      Settings settings,
      List<DataSet> dataSets,
      Calibration calibration,
      VariantResult stock,
      VariantResult normal,
      VariantResult melded) {
    boolean agree =
        Stream.of(stock, normal, melded)
                .map(variant -> variant.scan().rows() + " " + variant.scan().checksum())
                .distinct()
                .count()
            == 1;
    return new DemoResult(
        settings.directive(),
        settings.profile(),
        settings.window(),
        settings.windowMode(),
        List.copyOf(dataSets),
        calibration,
        stock,
        normal,
        melded,
        melded.endToEndMibPerSecond() / normal.endToEndMibPerSecond(),
        melded.all().mibPerSecond() / normal.all().mibPerSecond(),
        Published.GAIN,
        Published.SOURCE,
        agree);
  }

  /** What a person sees: without the directive, the second data set is not melded. */
  public String displayName(VariantResult variant) {
    return variant.name().equals("melded") && !directive ? "control" : variant.name();
  }

  /** The same without the samples over time. */
  public DemoResult withoutSamples() {
    return new DemoResult(
        directive,
        profile,
        windowBytes,
        windowMode,
        dataSets,
        calibration,
        stock.withoutSamples(),
        normal.withoutSamples(),
        melded.withoutSamples(),
        gainEndToEnd,
        gainDevice,
        gainPublished,
        publishedSource,
        checksumsAgree);
  }

  /** The scans in the order in which they ran. */
  public List<VariantResult> variants() {
    return List.of(stock, normal, melded);
  }
}
