package org.hdfsmeld.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import org.apache.hadoop.thirdparty.com.google.common.hash.HashFunction;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hashing;
import org.junit.jupiter.api.Test;

class TestTraceHash {
  /** The reference implementation's vector for the 16 bytes 00 to 0f under the key 00 to 0f. */
  @Test
  void isSipHash() {
    HashFunction hash = Hashing.sipHash24(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
    assertThat(TraceWriter.hash(hash, 0x0706050403020100L, 0x0f0e0d0c0b0a0908L))
        .isEqualTo(0x3f2acc7f57c29bdbL);
  }

  @Test
  void anotherKeyGivesOtherHashes() {
    SecureRandom random = new SecureRandom();
    HashFunction one = Hashing.sipHash24(random.nextLong(), random.nextLong());
    HashFunction other = Hashing.sipHash24(random.nextLong(), random.nextLong());
    assertThat(TraceWriter.hash(one, 1, 2))
        .isEqualTo(TraceWriter.hash(one, 1, 2))
        .isNotEqualTo(TraceWriter.hash(other, 1, 2));
    assertThat(TraceWriter.volumeName(one, "DS-1"))
        .isEqualTo(TraceWriter.volumeName(one, "DS-1"))
        .isNotEqualTo(TraceWriter.volumeName(one, "DS-2"));
    assertThat(TraceWriter.volumeName(one, "DS-1"))
        .isNotEqualTo(TraceWriter.volumeName(other, "DS-1"));
  }
}
