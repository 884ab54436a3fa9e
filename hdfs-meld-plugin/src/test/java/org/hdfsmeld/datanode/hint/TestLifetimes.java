package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The classes of meldsim's experiment hdfs-lifetimes, by the same examples. */
class TestLifetimes {
  private static final int HANDLES = 8;
  private static final long HOUR_MS = 3_600_000;

  private final Lifetimes lifetimes = new Lifetimes(100, HOUR_MS);

  private int handle(long group, double hours) {
    return lifetimes.handle(group, HANDLES, 1 + (long) (hours * HOUR_MS));
  }

  private boolean ended(long group, double lifeHours) {
    return lifetimes.ended(group, HOUR_MS, HOUR_MS + (long) (lifeHours * HOUR_MS));
  }

  @Test
  void classesAreFourTimesAsLongEach() {
    double[] hours = {0.5, 1.0, 3.9, 4.0, 16.0, 64.0, 256.0, 1023.0, 1025.0, 1e6};
    int[] classes = {1, 2, 2, 3, 4, 5, 6, 6, 7, 7};
    for (int i = 0; i < hours.length; i++) {
      assertThat(lifetimes.classOf(hours[i] * HOUR_MS, HANDLES)).isEqualTo(classes[i]);
    }
    assertThat(lifetimes.classOf(1e6 * HOUR_MS, 2)).isEqualTo(1);
    assertThat(lifetimes.classOf(1e6 * HOUR_MS, 3)).isEqualTo(2);
    Lifetimes ofSeconds = new Lifetimes(100, 1000);
    assertThat(ofSeconds.classOf(999, HANDLES)).isEqualTo(1);
    assertThat(ofSeconds.classOf(4000, HANDLES)).isEqualTo(3);
  }

  @Test
  void aGroupIsKnownByItsDeletionsAndBeforeThemByItsAge() {
    assertThat(handle(1, 0)).isZero();
    assertThat(handle(1, 5)).isEqualTo(3);
    assertThat(ended(1, 0.5)).isTrue();
    assertThat(handle(1, 6)).isEqualTo(1);
    // The geometric mean of 0.5 and 8 hours is 2 hours.
    ended(1, 8);
    assertThat(handle(1, 6)).isEqualTo(2);
    assertThat(handle(2, 6)).isZero();
    for (int i = 0; i < 1000; i++) {
      ended(1, 100);
    }
    assertThat(handle(1, 7)).as("what was long ago is forgotten").isEqualTo(5);
  }

  @Test
  void ofWhatIsNotKnownNothingIsLearned() {
    assertThat(lifetimes.ended(0, 1, 2)).isFalse();
    assertThat(lifetimes.ended(1, 0, 2)).isFalse();
    assertThat(handle(0, 100)).isZero();
    assertThat(lifetimes.size()).isZero();
  }

  @Test
  void theGroupsAreBounded() {
    for (long group = 1; group <= 1000; group++) {
      ended(group, 1.5);
    }
    assertThat(lifetimes.size()).isEqualTo(100);
    assertThat(handle(1000, 2)).isEqualTo(2);
    assertThat(handle(1, 2)).isZero();
  }

  @Test
  void theyComeBackAsTheyWereWritten() throws IOException {
    ended(1, 0.5);
    ended(2, 100);
    handle(3, 1);
    assertThat(lifetimes.takeChanged()).isTrue();
    assertThat(lifetimes.takeChanged()).isFalse();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    lifetimes.write(new DataOutputStream(bytes));
    Lifetimes read = new Lifetimes(100, HOUR_MS);
    read.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    for (long group = 1; group <= 3; group++) {
      assertThat(read.handle(group, HANDLES, 9 * HOUR_MS))
          .isEqualTo(lifetimes.handle(group, HANDLES, 9 * HOUR_MS));
    }
    byte[] damaged = bytes.toByteArray();
    damaged[4 + 16] = (byte) 0x80;
    assertThatThrownBy(() -> read.read(new DataInputStream(new ByteArrayInputStream(damaged))))
        .isInstanceOf(IOException.class);
  }
}
