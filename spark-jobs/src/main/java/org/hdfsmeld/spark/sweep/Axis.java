package org.hdfsmeld.spark.sweep;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One axis of a grid of profiles: keys, and the values that they take together at each point.
 *
 * @param keys of a profile, such as {@code sets.layout}
 * @param points at each as many values as there are keys
 */
record Axis(List<String> keys, List<List<String>> points) {

  /** The keys and values at one point, in order. */
  Map<String, String> at(int point) {
    Map<String, String> values = new LinkedHashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      values.put(keys.get(i), points.get(point).get(i));
    }
    return values;
  }

  /** Reads {@code KEY=V1,V2} and {@code KEY1:KEY2=V1:W1,V2:W2}. */
  static final class Converter implements ITypeConverter<Axis> {
    @Override
    public Axis convert(String text) {
      int equals = text.indexOf('=');
      if (equals < 1) {
        throw new TypeConversionException(
            "'"
                + text
                + "' is no axis; write KEY=VALUE,VALUE, such as ftl.page_allocation=CWDP,PDWC");
      }
      List<String> keys = split(text.substring(0, equals), ':');
      List<List<String>> points = new ArrayList<>();
      for (String point : split(text.substring(equals + 1), ',')) {
        // A colon is part of the value where there is but one key.
        List<String> values = keys.size() == 1 ? List.of(point) : split(point, ':');
        if (values.size() != keys.size() || values.contains("")) {
          throw new TypeConversionException(
              "'"
                  + point
                  + "' in '"
                  + text
                  + "': must have "
                  + keys.size()
                  + " values between colons");
        }
        points.add(values);
      }
      return new Axis(keys, points);
    }

    /** Splits outside of brackets and quotes, for lists and tables are values, too. */
    private static List<String> split(String text, char separator) {
      List<String> parts = new ArrayList<>();
      int depth = 0;
      boolean quoted = false;
      int start = 0;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '"') {
          quoted = !quoted;
        } else if (!quoted && (c == '[' || c == '{')) {
          depth++;
        } else if (!quoted && (c == ']' || c == '}')) {
          depth--;
        } else if (!quoted && depth == 0 && c == separator) {
          parts.add(text.substring(start, i).strip());
          start = i + 1;
        }
      }
      parts.add(text.substring(start).strip());
      return List.copyOf(parts);
    }
  }
}
