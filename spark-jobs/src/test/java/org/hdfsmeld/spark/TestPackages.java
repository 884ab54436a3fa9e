package org.hdfsmeld.spark;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The packages know each other one way, jobs do not at all, and each is small. */
class TestPackages {
  private static final String[] JOBS = {
    "generate", "scan", "lookup", "query", "mixed", "sort", "churn", "sweep"
  };

  private final PackageOrder packages = new PackageOrder();

  @Test
  void packagesKnowOnlyThoseBefore() {
    packages.holds(
        "spark.cli",
        "spark.measure",
        "spark.data",
        "spark.task",
        "spark.devices",
        "spark.timeline",
        "spark.generate",
        "spark.scan",
        "spark.lookup",
        "spark.query",
        "spark.mixed",
        "spark.sort",
        "spark.churn",
        "spark.sweep",
        "spark");
  }

  @Test
  void jobsDoNotKnowEachOther() {
    for (String job : JOBS) {
      noClasses()
          .that()
          .resideInAPackage("org.hdfsmeld.spark." + job)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              Arrays.stream(JOBS)
                  .filter(other -> !other.equals(job))
                  .map("org.hdfsmeld.spark."::concat)
                  .toArray(String[]::new))
          .check(packages.classes);
    }
  }

  @Test
  void packagesAreSmall() {
    packages.packagesAreSmall();
  }
}
