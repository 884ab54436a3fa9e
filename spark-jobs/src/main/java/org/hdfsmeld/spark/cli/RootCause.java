package org.hdfsmeld.spark.cli;

/** What to say of a failure. */
public final class RootCause {
  private RootCause() {}

  /** The message of the error's root cause, or its name where it has none. */
  public static String message(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return message == null || message.isBlank() ? root.toString() : message;
  }
}
