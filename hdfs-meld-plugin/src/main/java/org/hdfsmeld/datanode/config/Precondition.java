package org.hdfsmeld.datanode.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a device has been through that is opened anew.
 *
 * @param fillPercent share of the device that holds data, 1 to 100; 0 of a fresh one
 * @param randomPercent share of that data that was overwritten at random, 0 to 100
 * @param skew which of it more often, as {@code zipf:0.9}; empty for all alike
 */
public record Precondition(int fillPercent, int randomPercent, String skew) {
  /** Nothing: the device is fresh. */
  public static final Precondition NONE = new Precondition(0, 0, "");

  /**
   * A share may be left out, and is 100 then, as with {@code meldsim run --precondition}. The
   * library knows the skews.
   */
  private static final Pattern OF_ALL =
      Pattern.compile(
          "none|(?:fill=(\\d{1,3}))?(?:(?:^|,)random=(\\d{1,3}))?(?:(?:^|,)skew=([^,]+))?");

  /** In a list that commas separate. */
  private static final Pattern OF_ONE = Pattern.compile("none|(\\d{1,3})/(\\d{1,3})(?:/([^,]+))?");

  /** Reads the value of the key for all devices, such as {@code fill=80,random=100}. */
  public static Precondition ofAll(String key, String value) throws MeldConfigurationException {
    String shares = value.replace(" ", "");
    return shares.isEmpty()
        ? NONE
        : read(key, value, OF_ALL.matcher(shares), "none or fill=80,random=100,skew=zipf:0.9");
  }

  /** Reads the shares of an entry such as {@code /data/1=80/100}. */
  static Precondition ofOne(String key, String entry, String shares)
      throws MeldConfigurationException {
    return read(
        key,
        entry,
        OF_ONE.matcher(shares),
        "/data/1=80/100, /data/1=80/100/zipf:0.9 or @ssd0=none");
  }

  private static Precondition read(String key, String value, Matcher shares, String example)
      throws MeldConfigurationException {
    boolean isRead = shares.matches();
    if (isRead && shares.group().equals("none")) {
      return NONE;
    }
    int fill = isRead ? share(shares.group(1)) : 0;
    if (fill < 1 || fill > 100 || share(shares.group(2)) > 100) {
      throw new MeldConfigurationException(
          key, value, "fill is 1 to 100 % and random 0 to 100 %, such as " + example);
    }
    String skew = shares.group(3) == null ? "" : shares.group(3);
    return new Precondition(fill, share(shares.group(2)), skew);
  }

  /** As {@code meldsim run --precondition} has it. */
  @Override
  public String toString() {
    if (equals(NONE)) {
      return "none";
    }
    String shares = "fill=" + fillPercent + ",random=" + randomPercent;
    return skew.isEmpty() ? shares : shares + ",skew=" + skew;
  }

  private static int share(String percent) {
    return percent == null ? 100 : Integer.parseInt(percent);
  }
}
