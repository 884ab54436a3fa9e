package org.hdfsmeld.model;

import java.io.IOException;
import java.util.stream.Stream;

/** A constant with a number in files, which stays when constants come, go or move. */
public interface Coded {
  /** From 0 to 127. */
  int code();

  /**
   * The one of {@code constants} with a code.
   *
   * @throws IOException when none has it
   */
  static <T extends Coded> T of(T[] constants, int code) throws IOException {
    return Stream.of(constants)
        .filter(constant -> constant.code() == code)
        .findFirst()
        .orElseThrow(() -> new IOException("unknown code " + code));
  }
}
