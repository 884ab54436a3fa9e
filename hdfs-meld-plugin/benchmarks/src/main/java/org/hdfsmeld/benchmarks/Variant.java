package org.hdfsmeld.benchmarks;

/** What an HDFS is measured as. */
enum Variant {
  /** As released. */
  STOCK("stock", "", 0),

  /** As released, once more: how much two JVMs of the same kind differ. */
  STOCK_AGAIN("stock again", "", 0),

  /** The plugin, forwarding nothing. */
  OFF("off", "off", 0.01),

  /** The plugin, forwarding and counting. */
  ACCOUNT("account", "account", 0.03);

  private final String label;
  private final String mode;
  private final double bar;

  Variant(String label, String mode, double bar) {
    this.label = label;
    this.mode = mode;
    this.bar = bar;
  }

  String label() {
    return label;
  }

  /** The plugin's mode; empty without the plugin. */
  String mode() {
    return mode;
  }

  /** The part of stock's throughput that may be missing; 0 where there is no bar. */
  double bar() {
    return bar;
  }
}
