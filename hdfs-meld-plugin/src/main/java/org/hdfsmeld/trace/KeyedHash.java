package org.hdfsmeld.trace;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * SipHash-2-4 of 16 bytes, with a random key that lives as long as one trace and is written
 * nowhere.
 *
 * <p>Within a trace a block keeps its hash; between traces, and to block identifiers, there is no
 * link. See Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
 */
final class KeyedHash {
  private static final int INPUT_BYTES = 16;

  private final long key0;
  private final long key1;

  /** A hash that nobody can repeat. */
  KeyedHash(SecureRandom random) {
    this(random.nextLong(), random.nextLong());
  }

  KeyedHash(long key0, long key1) {
    this.key0 = key0;
    this.key1 = key1;
  }

  /** The hash of a name. */
  long of(String name) {
    UUID folded = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
    return of(folded.getMostSignificantBits(), folded.getLeastSignificantBits());
  }

  /** The hash of two words, the first one in front, each with its least significant byte first. */
  long of(long first, long second) {
    long v0 = key0 ^ 0x736f6d6570736575L;
    long v1 = key1 ^ 0x646f72616e646f6dL;
    long v2 = key0 ^ 0x6c7967656e657261L;
    long v3 = key1 ^ 0x7465646279746573L;
    // Two words of input, then the one that holds the input's length.
    for (int word = 0; word < 4; word++) {
      long input =
          switch (word) {
            case 0 -> first;
            case 1 -> second;
            default -> (long) INPUT_BYTES << 56;
          };
      boolean last = word == 3;
      int rounds = last ? 4 : 2;
      if (last) {
        v2 ^= 0xff;
      } else {
        v3 ^= input;
      }
      for (int round = 0; round < rounds; round++) {
        v0 += v1;
        v2 += v3;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 = Long.rotateLeft(v2, 32);
      }
      if (!last) {
        v0 ^= input;
      }
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }
}
