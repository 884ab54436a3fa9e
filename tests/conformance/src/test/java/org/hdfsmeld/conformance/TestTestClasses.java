package org.hdfsmeld.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.hdfsmeld.hadoop.HadoopJars;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of classes, and what can be asked for. */
class TestTestClasses {
  private static final String PREAD = "org.apache.hadoop.hdfs.TestPread";

  @TempDir Path dir;
  private TestClasses classes;

  @BeforeEach
  void publish() throws IOException {
    classes = published(PREAD, "org.apache.hadoop.hdfs.TestDu", "org.apache.hadoop.fs.TestDu");
  }

  /** The classes of a jar that holds these, and something within the first. */
  private TestClasses published(String... names) throws IOException {
    Path jar = dir.resolve("hadoop-hdfs-3.5.0-tests.jar");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry(names[0].replace('.', '/') + "$Within.class"));
      for (String name : names) {
        out.putNextEntry(new ZipEntry(name.replace('.', '/') + ".class"));
      }
    }
    return TestClasses.of(List.of(dir.resolve("hadoop-hdfs-3.5.0.jar"), jar));
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.3.6", "3.4.2", "3.5.0"})
  void everyListedClassIsPublished(String version) throws Exception {
    TestClasses hadoop =
        TestClasses.of(HadoopJars.daemons(version, "org.apache.hadoop:hadoop-hdfs:jar:tests:%s"));
    List<String> all = hadoop.select(List.of("all"));
    assertThat(hadoop.select(all)).isEqualTo(all);
  }

  @Test
  void quickIsAPartOfAll() {
    List<String> all = classes.select(List.of());
    assertThat(all).hasSizeGreaterThan(40).doesNotHaveDuplicates();
    assertThat(all).containsAll(classes.select(List.of("quick")));
    assertThat(classes.select(List.of("quick"))).hasSizeBetween(5, 20);
  }

  @Test
  void namesCanBeSimpleOrWhole() {
    assertThat(classes.select(List.of("TestPread", "org.apache.hadoop.fs.TestDu")))
        .containsExactly(PREAD, "org.apache.hadoop.fs.TestDu");
  }

  @Test
  void anUnknownNameIsRefusedWithThoseThatAreKnown() {
    assertThatThrownBy(() -> classes.select(List.of("TestPead")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TestPead")
        .hasMessageContaining("TestPread");
  }

  @Test
  void aNameOfTwoClassesIsRefusedWithBoth() {
    assertThatThrownBy(() -> classes.select(List.of("TestDu")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("org.apache.hadoop.fs.TestDu")
        .hasMessageContaining("org.apache.hadoop.hdfs.TestDu");
  }

  @Test
  void aKnownOutcomeHasAReason() {
    assertThatThrownBy(() -> KnownOutcomes.parse("fails TestX#a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TestX#a");
    assertThat(KnownOutcomes.read().skipped("TestShortCircuitLocalRead")).isPresent();
  }
}
