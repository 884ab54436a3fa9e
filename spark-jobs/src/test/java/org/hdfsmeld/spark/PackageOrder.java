package org.hdfsmeld.spark;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** What holds for the packages of a module, this one and the demo. */
public final class PackageOrder {
  private static final long MOST_FILES = 25L;

  /** The classes of the module whose tests run. */
  final JavaClasses classes;

  public PackageOrder() {
    // Else it reads all of Spark and Hadoop, of which nothing is asked here.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    classes = new ClassFileImporter().importPath(Path.of("target", "classes"));
  }

  /**
   * Fails unless these are all packages below org.hdfsmeld, and each knows only those before it.
   */
  public void holds(String... names) {
    LayeredArchitecture layers = layeredArchitecture().consideringOnlyDependenciesInLayers();
    for (String name : names) {
      layers = layers.layer(name).definedBy("org.hdfsmeld." + name);
    }
    for (int i = 1; i < names.length; i++) {
      layers = layers.whereLayer(names[i]).mayOnlyAccessLayers(Arrays.copyOf(names, i));
    }
    layers.whereLayer(names[0]).mayNotAccessAnyLayer().check(classes);
    assertThat(files().keySet())
        .containsOnly(Arrays.stream(names).map("org.hdfsmeld."::concat).toArray(String[]::new));
  }

  /** Fails if a package has too many files to be looked over. */
  public void packagesAreSmall() {
    assertThat(files())
        .allSatisfy((name, count) -> assertThat(count).isLessThanOrEqualTo(MOST_FILES));
  }

  private Map<String, Long> files() {
    return classes.stream()
        .filter(JavaClass::isTopLevelClass)
        .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
  }
}
