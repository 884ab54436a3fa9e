package org.hdfsmeld;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.junit.jupiter.api.Test;

/** The packages know each other one way, and each is small enough to be looked over. */
class TestPackages {
  private static final int MOST_FILES = 20;

  /** Each knows only those before it. */
  private static final String[] ORDER = {
    "sim",
    "model",
    "record",
    "datanode.config",
    "trace",
    "timeline",
    "rpc",
    "namenode",
    "datanode.metrics",
    "datanode.state",
    "datanode.device",
    "datanode.hint",
    "datanode.layout",
    "datanode.readahead",
    "datanode.volume",
    "datanode.io",
    "datanode.hadoop",
    "datanode.placement",
    "datanode",
    "tools"
  };

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("org.hdfsmeld");

  @Test
  void noPackageIsInACircle() {
    slices().matching("org.hdfsmeld.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void packagesKnowOnlyThoseBefore() {
    LayeredArchitecture layers = layeredArchitecture().consideringOnlyDependenciesInLayers();
    for (String name : ORDER) {
      layers = layers.layer(name).definedBy("org.hdfsmeld." + name);
    }
    for (int i = 1; i < ORDER.length; i++) {
      String[] before = Arrays.copyOf(ORDER, i);
      layers = layers.whereLayer(ORDER[i]).mayOnlyAccessLayers(before);
    }
    layers.whereLayer(ORDER[0]).mayNotAccessAnyLayer().check(CLASSES);
  }

  /**
   * Besides the door to Hadoop: what operators name in the configuration extends classes of
   * Hadoop's, and what HDFS calls takes its volumes.
   */
  @Test
  void oneDoorLeadsToHadoopsPrivateInterfaces() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "org.hdfsmeld.datanode.hadoop",
            "org.hdfsmeld.datanode.placement",
            "org.hdfsmeld.datanode")
        .should()
        .dependOnClassesThat(
            resideInAPackage("org.apache.hadoop.hdfs.server.datanode..")
                .and(not(type(FsVolumeSpi.class))))
        .check(CLASSES);
  }

  /**
   * Hadoop's clients for applications have these under other names, and an embedded HDFS is made of
   * them.
   */
  @Test
  void librariesThatHadoopRelocatesAreNotUsed() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.commons..", "com.fasterxml..", "com.google..")
        .check(CLASSES);
  }

  @Test
  void packagesAreSmall() {
    Map<String, Long> files =
        CLASSES.stream()
            .filter(JavaClass::isTopLevelClass)
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    assertThat(files.keySet()).contains("org.hdfsmeld.datanode.io");
    assertThat(files).allSatisfy((name, count) -> assertThat(count).isLessThan(MOST_FILES + 1));
  }
}
