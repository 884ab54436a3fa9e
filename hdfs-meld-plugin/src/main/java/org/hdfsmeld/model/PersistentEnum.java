package org.hdfsmeld.model;

import java.io.IOException;
import org.apache.hadoop.util.StringUtils;

/**
 * A constant whose place in its enum is its number in files: it stays there, and new ones go last.
 */
public interface PersistentEnum {
  /** From 0 to 127. */
  @SuppressWarnings("EnumOrdinal")
  default int code() {
    return ((Enum<?>) this).ordinal();
  }

  default String text() {
    return StringUtils.toLowerCase(((Enum<?>) this).name());
  }

  /**
   * The one of {@code constants} with a code.
   *
   * @throws IOException when none has it
   */
  static <T extends PersistentEnum> T of(T[] constants, int code) throws IOException {
    if (code < 0 || code >= constants.length) {
      throw new IOException("unknown code " + code);
    }
    return constants[code];
  }
}
