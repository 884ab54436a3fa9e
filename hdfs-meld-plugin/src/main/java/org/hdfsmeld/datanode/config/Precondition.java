package org.hdfsmeld.datanode.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a device has been through that is opened anew.
 *
 * @param fillPercent share of the device that holds data, 1 to 100; 0 of a fresh one
 * @param randomPercent share of that data that was overwritten at random, 0 to 100
 */
public record Precondition(int fillPercent, int randomPercent) {
  /** Nothing: the device is fresh. */
  public static final Precondition NONE = new Precondition(0, 0);

  /** Either may be left out, and is 100 then, as with {@code meldsim run --precondition}. */
  private static final Pattern SHARES =
      Pattern.compile("(?:fill=(\\d{1,3}))?(?:(?:^|,)random=(\\d{1,3}))?");

  /** As a volume has it, in a list that commas separate. */
  private static final Pattern PAIR = Pattern.compile("(\\d{1,3})/(\\d{1,3})");

  /** Reads {@code fill=80,random=100}, of the key for all devices; empty is a fresh one. */
  static Precondition ofAll(String key, String value) throws MeldConfigurationException {
    String words = value.replace(" ", "");
    return words.isEmpty() ? NONE : read(key, value, SHARES.matcher(words), "fill=80,random=100");
  }

  /** Reads the end of an {@code entry} such as {@code /data/1=80/100}. */
  static Precondition ofOne(String key, String entry, String value)
      throws MeldConfigurationException {
    return read(key, entry, PAIR.matcher(value), "/data/1=80/100 or @ssd0=none");
  }

  private static Precondition read(String key, String value, Matcher shares, String example)
      throws MeldConfigurationException {
    if (value.endsWith("none")) {
      return NONE;
    }
    int fill = shares.matches() ? share(shares.group(1)) : 0;
    if (fill < 1 || fill > 100 || share(shares.group(2)) > 100) {
      throw new MeldConfigurationException(
          key, value, "fill is 1 to 100 % and random 0 to 100 %, such as " + example);
    }
    return new Precondition(fill, share(shares.group(2)));
  }

  private static int share(String percent) {
    return percent == null ? 100 : Integer.parseInt(percent);
  }
}
