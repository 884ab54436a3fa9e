package org.hdfsmeld.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TestStrings {
  @Test
  void whatFindsNoRoomIsAmongTheOthers() {
    Strings strings = new Strings();
    for (int i = 1; i < 4096; i++) {
      assertThat(strings.number("client " + i)).isEqualTo(i);
    }
    assertThat(strings.number("one more")).isZero();
    assertThat(strings.number("client 7")).isEqualTo(7);
    assertThat(strings.get(7)).isEqualTo("client 7");
    assertThat(strings.get(0)).isEqualTo("(others)");
  }
}
