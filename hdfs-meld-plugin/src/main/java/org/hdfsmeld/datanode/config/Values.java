package org.hdfsmeld.datanode.config;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;

/** The values of keys, each checked with an error that names the key and the remedy. */
final class Values {
  private Values() {}

  static boolean flag(Configuration conf, String key, String defaultValue)
      throws MeldConfigurationException {
    String value = conf.getTrimmed(key, defaultValue);
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new MeldConfigurationException(key, value, "use true or false");
    };
  }

  static long bytes(Configuration conf, String key, String defaultValue, long min, long max)
      throws MeldConfigurationException {
    String value = conf.getTrimmed(key, defaultValue);
    long bytes;
    try {
      bytes = TraditionalBinaryPrefix.string2long(value);
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(
          key, value, "is no size; use bytes or a binary unit, such as " + defaultValue);
    }
    checkRange(key, value, bytes, min, max, " bytes", defaultValue);
    return bytes;
  }

  static int count(Configuration conf, String key, String defaultValue, int min, int max)
      throws MeldConfigurationException {
    String value = conf.getTrimmed(key, defaultValue);
    long count;
    try {
      count = Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new MeldConfigurationException(
          key, value, "is no number; use one such as " + defaultValue);
    }
    checkRange(key, value, count, min, max, "", defaultValue);
    return (int) count;
  }

  private static void checkRange(
      String key, String value, long number, long min, long max, String unit, String defaultValue)
      throws MeldConfigurationException {
    if (number < min || number > max) {
      throw new MeldConfigurationException(
          key,
          value,
          "is outside " + min + " to " + max + unit + "; the default is " + defaultValue);
    }
  }

  /** A duration of at least 0, in seconds when it has no unit. */
  static long durationNs(Configuration conf, String key, String defaultValue)
      throws MeldConfigurationException {
    String value = conf.getTrimmed(key, defaultValue);
    long ns;
    try {
      ns = conf.getTimeDuration(key, defaultValue, TimeUnit.SECONDS, TimeUnit.NANOSECONDS);
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(
          key, value, "is no duration; use a unit, such as " + defaultValue);
    }
    if (ns < 0) {
      throw new MeldConfigurationException(
          key, value, "must not be negative; use a value such as " + defaultValue);
    }
    return ns;
  }
}
