package org.hdfsmeld.model;

import java.io.IOException;
import org.apache.hadoop.util.StringUtils;

/** Constants whose places in the enum are their numbers in files: new ones go last. */
public interface PersistentEnum {
  /** From 0 to 127. */
  @SuppressWarnings("EnumOrdinal")
  default int code() {
    return ((Enum<?>) this).ordinal();
  }

  default String text() {
    return StringUtils.toLowerCase(((Enum<?>) this).name());
  }

  /** The one of {@code constants} with a code; throws when none has it. */
  static <T extends PersistentEnum> T of(T[] constants, int code) throws IOException {
    if (code < 0 || code >= constants.length) {
      throw new IOException("unknown code " + code);
    }
    return constants[code];
  }
}
