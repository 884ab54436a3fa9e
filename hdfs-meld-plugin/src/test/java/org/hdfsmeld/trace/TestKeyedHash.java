package org.hdfsmeld.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import org.junit.jupiter.api.Test;

class TestKeyedHash {
  /** The reference implementation's vector for the 16 bytes 00 to 0f under the key 00 to 0f. */
  @Test
  void isSipHash() {
    KeyedHash hash = new KeyedHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
    assertThat(hash.of(0x0706050403020100L, 0x0f0e0d0c0b0a0908L)).isEqualTo(0x3f2acc7f57c29bdbL);
  }

  @Test
  void anotherKeyGivesOtherHashes() {
    SecureRandom random = new SecureRandom();
    KeyedHash one = new KeyedHash(random.nextLong(), random.nextLong());
    KeyedHash other = new KeyedHash(random.nextLong(), random.nextLong());
    assertThat(one.of(1, 2)).isEqualTo(one.of(1, 2)).isNotEqualTo(other.of(1, 2));
    assertThat(one.of("DS-1")).isEqualTo(one.of("DS-1")).isNotEqualTo(one.of("DS-2"));
    assertThat(one.of("DS-1")).isNotEqualTo(other.of("DS-1"));
  }
}
