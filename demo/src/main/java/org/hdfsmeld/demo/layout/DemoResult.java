package org.hdfsmeld.demo.layout;

import java.util.List;
import java.util.stream.Stream;

/**
 * Everything the demo found.
 *
 * @param directive whether the melded data set was written with the directive; else it is a control
 * @param normal slowed down, of the round with the median gain
 * @param melded the same
 * @param undilated the same scans at the devices' own speed
 * @param gainEndToEnd simulated: melded by normal, as Spark saw it, the median of the rounds
 * @param gains that gain of every round, ascending
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
    Rounds undilated,
    double gainEndToEnd,
    List<Double> gains,
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
      Rounds undilated,
      Rounds paced) {
    Stream<String> contents =
        Stream.of(List.of(stock.content()), undilated.contents(), paced.contents())
            .flatMap(List::stream);
    return new DemoResult(
        settings.directive(),
        settings.profile(),
        settings.window(),
        settings.windowMode(),
        List.copyOf(dataSets),
        calibration,
        stock,
        paced.normal(),
        paced.melded(),
        undilated,
        paced.gain(),
        paced.gains(),
        paced.melded().all().mibPerSecond() / paced.normal().all().mibPerSecond(),
        Published.GAIN,
        Published.SOURCE,
        contents.distinct().count() == 1);
  }

  /**
   * The gain that there is room for: a reader that waits a share of its time for the devices cannot
   * save more than that, and no more than the devices do. What is measured has the host's noise.
   *
   * @param normal a scan of the normal layout
   */
  public double mostGain(VariantResult normal) {
    return Math.min(Math.max(1, gainDevice), 1 / Math.max(0, 1 - normal.readerWaitShare()));
  }

  /** What a person sees: without the directive, the second data set is not melded. */
  public String displayName(VariantResult variant) {
    return variant.name().equals("melded") && !directive ? "control" : variant.name();
  }

  /** Stock, and the scans slowed down. */
  public List<VariantResult> variants() {
    return List.of(stock, normal, melded);
  }
}
