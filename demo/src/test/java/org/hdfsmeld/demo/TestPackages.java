package org.hdfsmeld.demo;

import org.hdfsmeld.spark.PackageOrder;
import org.junit.jupiter.api.Test;

/** The packages know each other one way, and each is small. */
class TestPackages {
  private final PackageOrder packages = new PackageOrder();

  @Test
  void packagesKnowOnlyThoseBefore() {
    packages.holds(
        "demo.process",
        "demo.volumes",
        "soak",
        "demo.cluster",
        "demo.layout",
        "demo.report",
        "demo.placement",
        "demo");
  }

  @Test
  void packagesAreSmall() {
    packages.packagesAreSmall();
  }
}
