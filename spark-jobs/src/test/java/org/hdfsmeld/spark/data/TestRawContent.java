package org.hdfsmeld.spark.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Raw content is the same in any pieces, and differs by seed, file and place. */
class TestRawContent {
  private static final int BYTES = 1000;
  private final RawContent content = new RawContent(42, 7);

  @Test
  void isTheSameInAnyPieces() {
    byte[] whole = bytes(content, 0, BYTES);
    for (int offset = 0; offset < 40; offset++) {
      for (int length = 0; length < 40; length++) {
        assertThat(bytes(content, offset, length))
            .isEqualTo(Arrays.copyOfRange(whole, offset, offset + length));
      }
    }
  }

  @Test
  void isTheSequenceOfSplitMix64() {
    long key = SplitMix64.mix(42 + SplitMix64.mix(7 + 0x9e3779b97f4a7c15L));
    SplittableRandom random = new SplittableRandom(key); // SplitMix64 with the usual gamma
    ByteBuffer words = ByteBuffer.wrap(bytes(content, 0, BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    while (words.hasRemaining()) {
      assertThat(words.getLong()).isEqualTo(random.nextLong());
    }
  }

  @Test
  void findsTheFirstWrongByte() {
    for (int wrong = 0; wrong < 64; wrong++) {
      byte[] bytes = bytes(content, 3, 64);
      assertThat(content.mismatch(3, bytes, 64)).isEqualTo(-1);
      bytes[wrong] ^= 0x10;
      assertThat(content.mismatch(3, bytes, 64)).isEqualTo(wrong);
      assertThat(content.mismatch(3, bytes, wrong)).isEqualTo(-1);
    }
  }

  @Test
  void differsBySeedFileAndPlace() {
    byte[] bytes = bytes(content, 0, BYTES);
    assertThat(new RawContent(43, 7).mismatch(0, bytes, BYTES)).isNotNegative();
    assertThat(new RawContent(42, 8).mismatch(0, bytes, BYTES)).isNotNegative();
    assertThat(content.mismatch(8, bytes, BYTES)).isNotNegative();
  }

  @Test
  void isKnownByItsName() {
    assertThat(content.fileName()).isEqualTo("raw-00007-seed-42");
    RawContent other = new RawContent(Long.MIN_VALUE, 123_456_789);
    assertThat(RawContent.ofName(other.fileName())).isEqualTo(other);
    assertThat(RawContent.ofName("part-00007")).isNull();
  }

  private static byte[] bytes(RawContent content, long offset, int length) {
    byte[] bytes = new byte[length];
    content.fill(offset, bytes, length);
    return bytes;
  }
}
