package org.hdfsmeld.datanode.config;

import java.util.Locale;

/** How much of a block is requested from the device ahead of its reader. */
public enum WindowMode {
  /** Grows while the reader goes on sequentially, collapses when it jumps. */
  ADAPTIVE,
  /** Always the whole window. */
  FIXED,
  /** What an unmodified Linux kernel under an unmodified DataNode requests. */
  LINUX;

  /**
   * The mode of that name, in any case.
   *
   * @throws IllegalArgumentException with the remedy, for any other text
   */
  static WindowMode parse(String text) {
    try {
      return valueOf(text.trim().toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("use adaptive, fixed or linux", e);
    }
  }
}
