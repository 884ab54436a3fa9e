package org.hdfsmeld.spark.cli;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Commands as they can be repeated in a shell, quoted as {@code meldsim} quotes its own. */
public final class ShellWords {
  private static final Pattern PLAIN = Pattern.compile("[\\p{L}\\p{N}_=./:,%+@-]+");

  private ShellWords() {}

  /** The command with its arguments, those quoted that must be. */
  public static String join(String command, List<String> arguments) {
    return Stream.concat(Stream.of(command), arguments.stream().map(ShellWords::quote))
        .collect(Collectors.joining(" "));
  }

  private static String quote(String argument) {
    return PLAIN.matcher(argument).matches()
        ? argument
        : "'" + argument.replace("'", "'\\''") + "'";
  }
}
