package org.hdfsmeld.trace;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.thirdparty.com.google.common.hash.HashFunction;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hashing;

/**
 * SipHash-2-4 with a random key that lives as long as one trace and is written nowhere.
 *
 * <p>Within a trace a block keeps its hash; between traces, and to block identifiers, there is no
 * link.
 */
final class KeyedHash {
  private static final int INPUT_BYTES = 16;

  private final HashFunction function;

  KeyedHash(long key0, long key1) {
    this.function = Hashing.sipHash24(key0, key1);
  }

  /** The hash of a name. */
  long of(String name) {
    return function.hashString(name, StandardCharsets.UTF_8).asLong();
  }

  /** The hash of two words, the first one in front, each with its least significant byte first. */
  long of(long first, long second) {
    return function.newHasher(INPUT_BYTES).putLong(first).putLong(second).hash().asLong();
  }
}
