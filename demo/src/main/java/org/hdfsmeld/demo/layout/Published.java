package org.hdfsmeld.demo.layout;

/**
 * What the paper measured on its own simulator: Arpith K, K. Gopinath, "A Case for Melded Pages",
 * HotStorage'20; a 128 MiB read as one burst on 8 channels x 8 dies, 4 KiB pages, 800 MT/s x 8 bit.
 */
final class Published {
  static final double GAIN = 1.41;
  static final double NORMAL_MIB_PER_SECOND = 2879;
  static final double MELDED_MIB_PER_SECOND = 4071;
  static final String SOURCE =
      "Arpith K, K. Gopinath, HotStorage'20: one 128 MiB burst, 8 channels x 8 dies, 4 KiB pages,"
          + " 800 MT/s x 8 bit";

  private Published() {}
}
