package org.hdfsmeld.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The list of classes, and what can be asked for. */
class TestTestClasses {
  private final TestClasses classes = TestClasses.read();

  @Test
  void everyClassIsInHadoopsJars() throws ClassNotFoundException {
    for (String name : classes.select(List.of("all"))) {
      assertThat(Class.forName(name, false, getClass().getClassLoader())).isNotNull();
    }
  }

  @Test
  void quickIsAPartOfAll() {
    assertThat(classes.select(List.of())).hasSize(28).containsAll(classes.select(List.of("quick")));
    assertThat(classes.select(List.of("quick"))).hasSizeBetween(5, 27);
  }

  @Test
  void namesCanBeSimpleOrWhole() {
    assertThat(classes.select(List.of("TestPread", "org.apache.hadoop.hdfs.TestHFlush")))
        .containsExactly("org.apache.hadoop.hdfs.TestPread", "org.apache.hadoop.hdfs.TestHFlush");
  }

  @Test
  void anUnknownNameIsRefusedWithThoseThatAreKnown() {
    assertThatThrownBy(() -> classes.select(List.of("TestPead")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TestPead")
        .hasMessageContaining("TestPread");
  }

  @Test
  void aKnownOutcomeHasAReason() {
    assertThatThrownBy(() -> KnownOutcomes.parse("fails TestX#a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TestX#a");
    assertThat(KnownOutcomes.read().skipped("TestShortCircuitLocalRead")).isPresent();
  }
}
