package org.hdfsmeld.datanode.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;

/** The values of keys, each checked with an error that names the key and the remedy. */
final class Values {
  private Values() {}

  /** The value of a key, or its default. */
  static String text(Configuration conf, String key) {
    return conf.getTrimmed(key, MeldKeys.defaultOf(key));
  }

  static boolean flag(Configuration conf, String key) throws MeldConfigurationException {
    String value = text(conf, key);
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new MeldConfigurationException(key, value, "use true or false");
    };
  }

  /** One of an enum's constants; {@link #name} says how they are written. */
  static <E extends Enum<E>> E choice(Configuration conf, String key, Class<E> type)
      throws MeldConfigurationException {
    String value = text(conf, key);
    try {
      return choice(value, type);
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(key, value, e.getMessage());
    }
  }

  /** The constant of that name, in any case; the exception lists the names there are. */
  static <E extends Enum<E>> E choice(String value, Class<E> type) {
    E[] all = type.getEnumConstants();
    return Arrays.stream(all)
        .filter(choice -> name(choice).equals(value.trim().toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    Arrays.stream(all)
                        .map(Values::name)
                        .collect(Collectors.joining(", ", "use one of ", ""))));
  }

  /** The name of a constant in the configuration: with hyphens, in lower case. */
  static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** A whole number, with a binary unit if wanted. */
  static long number(Configuration conf, String key, long min, long max)
      throws MeldConfigurationException {
    String value = text(conf, key);
    String example = MeldKeys.defaultOf(key);
    long number;
    try {
      number = TraditionalBinaryPrefix.string2long(value);
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(key, value, "is no number; use one such as " + example);
    }
    if (number < min || number > max) {
      throw new MeldConfigurationException(
          key, value, "is outside " + min + " to " + max + "; the default is " + example);
    }
    return number;
  }

  /** A duration of at least {@code min}, in seconds when it has no unit. */
  static long duration(Configuration conf, String key, TimeUnit unit, long min)
      throws MeldConfigurationException {
    String value = text(conf, key);
    String example = ", such as " + MeldKeys.defaultOf(key);
    long duration;
    try {
      duration = conf.getTimeDuration(key, MeldKeys.defaultOf(key), TimeUnit.SECONDS, unit);
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(key, value, "is no duration; use a unit" + example);
    }
    if (duration < min) {
      String least = min == 0 ? "0" : "1 " + unit.name().toLowerCase(Locale.ROOT);
      throw new MeldConfigurationException(key, value, "must be at least " + least + example);
    }
    return duration;
  }
}
