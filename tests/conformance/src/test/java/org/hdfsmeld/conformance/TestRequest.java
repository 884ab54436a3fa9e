package org.hdfsmeld.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line. */
class TestRequest {
  @Test
  void withoutAVersionItIsTheOneThePluginIsBuiltWith() {
    assertThat(Request.parse(List.of("quick")))
        .isEqualTo(new Request("3.5.0", false, List.of("quick")));
  }

  @Test
  void optionsStandAnywhere() {
    assertThat(Request.parse(List.of("TestA", "--hadoop", "3.3.6", "TestB", "--resume")))
        .isEqualTo(new Request("3.3.6", true, List.of("TestA", "TestB")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--hadoop", "--hadoop 3.2.4", "--hdoop"})
  void whatThereIsNotIsRefusedWithWhatThereIs(String line) {
    assertThatThrownBy(() -> Request.parse(List.of(line.split(" "))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--hadoop");
  }
}
