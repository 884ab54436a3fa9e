package org.hdfsmeld.spark.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes on a command line: digits, then k, m or g for powers of 1024, or nothing. */
public final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})([kmg]?)");

  @Override
  public Long convert(String text) {
    Matcher size = SIZE.matcher(text.toLowerCase(Locale.ROOT));
    if (!size.matches()) {
      throw new TypeConversionException(
          "'" + text + "' is not a number of bytes; write 65536, 64k, 128m or 1g");
    }
    int shift =
        switch (size.group(2)) {
          case "k" -> 10;
          case "m" -> 20;
          case "g" -> 30;
          default -> 0;
        };
    long number = Long.parseLong(size.group(1));
    if (number > Long.MAX_VALUE >> shift) {
      throw new TypeConversionException("'" + text + "' is more than " + Long.MAX_VALUE + " bytes");
    }
    return number << shift;
  }
}
