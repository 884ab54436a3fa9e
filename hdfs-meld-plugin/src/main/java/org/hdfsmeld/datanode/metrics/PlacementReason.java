package org.hdfsmeld.datanode.metrics;

import java.util.Locale;

/** Why a volume was chosen for a new block. */
public enum PlacementReason {
  /** To Optane: read at random, as its writer says. */
  RANDOM,
  /** To Optane: small. */
  SMALL,
  /** To NAND: read front to back, as its writer says or as full-size blocks are taken. */
  SEQUENTIAL,
  /** To NAND, for Optane has too much outstanding. */
  LOAD_OVERFLOW,
  /** To NAND or Optane, for the volumes of the wanted kind are full. */
  SPACE_OVERFLOW;

  /** The counter of the volumes chosen for this reason. */
  String counter() {
    return "placed_" + name().toLowerCase(Locale.ROOT);
  }
}
