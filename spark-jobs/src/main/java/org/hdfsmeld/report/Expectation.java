package org.hdfsmeld.report;

import java.util.Locale;

/**
 * What must hold of the medians: {@code job:variant[/variant][:figure] relation number}.
 *
 * @param base the variant to divide by; null if there is none
 */
public record Expectation(
    String text,
    String job,
    String variant,
    String base,
    Figure figure,
    Relation relation,
    double number) {

  /** How the value must stand to the number. */
  enum Relation {
    AT_LEAST(">="),
    AT_MOST("<="),
    ABOVE(">"),
    BELOW("<");

    private final String sign;

    Relation(String sign) {
      this.sign = sign;
    }

    boolean holds(double value, double number) {
      return switch (this) {
        case AT_LEAST -> value >= number;
        case AT_MOST -> value <= number;
        case ABOVE -> value > number;
        case BELOW -> value < number;
      };
    }
  }

  /**
   * Whether it holds.
   *
   * @param value null if it could not be had
   * @param message the value, or why there is none
   */
  public record Outcome(String expression, boolean holds, Double value, String message) {}

  /** Parses an expression; the message of what it throws names expression and position. */
  public static Expectation parse(String text) {
    return new Parser(text).parse();
  }

  /** Compares the medians of the suite. */
  public Outcome check(Suite suite) {
    Double value = median(suite, variant);
    Double divisor = base == null ? Double.valueOf(1) : median(suite, base);
    if (value == null || divisor == null) {
      return new Outcome(text, false, null, "no " + missing(suite, value == null ? variant : base));
    }
    double measured = value / divisor;
    String of =
        base == null
            ? figure.text(value)
            : String.format(
                Locale.ROOT, "%.3f (%s / %s)", measured, figure.text(value), figure.text(divisor));
    return new Outcome(text, relation.holds(measured, number), measured, of);
  }

  private Double median(Suite suite, String of) {
    SuiteGroup group = suite.group(job, of);
    return group == null || !group.figures().containsKey(figure)
        ? null
        : Double.valueOf(group.figures().get(figure).median());
  }

  private String missing(Suite suite, String of) {
    return suite.group(job, of) == null
        ? "run of " + job + " on " + of
        : figure.key() + " in the runs of " + job + " on " + of;
  }

  private static final class Parser {
    private final String text;
    private int at;

    Parser(String text) {
      this.text = text;
    }

    Expectation parse() {
      String job = name("a job");
      expect(':');
      String variant = name("a variant");
      String base = null;
      if (next('/')) {
        base = name("a variant to divide by");
      }
      Figure figure = Figures.headline(job);
      if (next(':')) {
        space();
        int start = at;
        figure = Figure.ofKey(name("a figure"));
        if (figure == null) {
          throw error(start, "a figure: " + Figure.keys());
        }
      }
      Relation relation = relation();
      return new Expectation(text, job, variant, base, figure, relation, number());
    }

    private String name(String what) {
      space();
      int start = at;
      while (at < text.length()
          && (Character.isLetterOrDigit(text.charAt(at)) || "-_.@".indexOf(text.charAt(at)) >= 0)) {
        at++;
      }
      if (at == start) {
        throw error(at, what);
      }
      return text.substring(start, at);
    }

    private Relation relation() {
      space();
      for (Relation relation : Relation.values()) {
        if (text.startsWith(relation.sign, at)) {
          at += relation.sign.length();
          return relation;
        }
      }
      throw error(at, "one of >= <= > <");
    }

    private double number() {
      space();
      try {
        double number = Double.parseDouble(text.substring(at).strip());
        if (Double.isFinite(number)) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
      throw error(at, "a number to the end");
    }

    private void expect(char sign) {
      if (!next(sign)) {
        throw error(at, "'" + sign + "'");
      }
    }

    private boolean next(char sign) {
      space();
      if (at < text.length() && text.charAt(at) == sign) {
        at++;
        return true;
      }
      return false;
    }

    private void space() {
      while (at < text.length() && text.charAt(at) == ' ') {
        at++;
      }
    }

    private IllegalArgumentException error(int position, String expected) {
      return new IllegalArgumentException(
          "'" + text + "', character " + (position + 1) + ": must be " + expected);
    }
  }
}
