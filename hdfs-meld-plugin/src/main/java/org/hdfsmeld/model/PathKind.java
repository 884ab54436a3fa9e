package org.hdfsmeld.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.thirdparty.com.google.common.hash.HashFunction;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hashing;

/**
 * The kind of a path: the path that its file gets when its writer commits it, with what differs
 * from one day or job to the next replaced by {@code #}: UUIDs, dates and other numbers, hashes,
 * the values of partitions. Files of a kind are taken to be read alike and to live as long.
 *
 * <p>Computed in one pass without backtracking, as a path may be anybody's. A {@code #} in a name
 * is that of a number: names that differ in this alone are one kind.
 *
 * @param words the path of the file
 */
public record PathKind(String words) {
  /** Names the files that are of one kind wherever they are. */
  public static final String ATTRIBUTE = "user.meld.lifetime-group";

  /** With its fixed key: DataNodes keep kinds over restarts. */
  private static final HashFunction HASH = Hashing.sipHash24();

  private static final char CHANGING = '#';

  /** Hexadecimal digits, decimal ones, either; UUIDs first, then the ids of Trino's queries. */
  private static final String[] IDENTIFIERS = {
    "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "dddddddd-dddddd-ddddd-xxxxx"
  };

  /** Shorter hexadecimal tokens may be words. */
  private static final int HASH_CHARS = 8;

  /** From so many changes between letters and digits on a token of so many characters is random. */
  private static final int RANDOM_CHANGES = 3;

  private static final int RANDOM_CHARS = 5;

  /**
   * Folders beside or in a table for what is not committed: of Hadoop, Spark, Hive, Impala, HBase.
   * With a sign at its end an entry is a beginning.
   */
  private static final List<String> STAGING =
      List.of("_temporary", ".spark-staging-", ".hive-staging_", "_impala_insert_staging", ".tmp");

  /** Below those, the folders of a job. */
  private static final List<String> JOBS =
      List.of("_temporary", "manifest_", "tasks", "job-", "job_");

  /** And of its attempts, below which is the output. */
  private static final List<String> ATTEMPTS =
      List.of("attempt_", "task_", "-ext-", "_tmp.-ext-", "_task_tmp.-ext-", "-mr-");

  /** What a name has only until its file is complete: Hive; the shell; Flume, Flink and Spark. */
  private static final String HIVE_PREFIX = "_tmp.";

  private static final String[] SUFFIXES = {"._COPYING_", ".tmp", ".inprogress"};

  /** The kind of a file, by its path from the root. */
  public static PathKind of(String path) {
    List<String> names = new ArrayList<>();
    boolean staged = false;
    String[] all = path.split("/");
    for (int i = 0; i < all.length; i++) {
      String name = all[i];
      boolean isFile = i == all.length - 1;
      if (name.isEmpty()) {
        continue;
      }
      if (name.equals(".reserved") && names.isEmpty() && i + 1 < all.length) {
        i += all[i + 1].equals("raw") ? 1 : 0;
      } else if (name.equals(".snapshot") && !isFile) {
        i++;
      } else if (name.equals(".Trash") && isCheckpoint(all, i + 1)) {
        names.clear();
        i++;
      } else if (name.equals(".Trash") && isCheckpoint(all, i + 2)) {
        names.clear();
        i += 2;
      } else if (!isFile && isOneOf(name, STAGING)) {
        staged = true;
      } else if (staged && !isFile && isOneOf(name, ATTEMPTS)) {
        staged = false;
      } else if (!staged || isFile || !isOfJob(name)) {
        staged = false;
        names.add(isFile ? complete(name) : name);
      }
    }
    StringBuilder words = new StringBuilder();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      int value = i < names.size() - 1 ? name.indexOf('=') : -1;
      words.append('/');
      append(words, value > 0 ? name.substring(0, value) : name);
      words.append(value > 0 ? "=" + CHANGING : "");
    }
    return new PathKind(words.toString());
  }

  /** What stands in its place where nothing is known of it: its directory, above partitions. */
  public PathKind parent() {
    int partition = words.indexOf("=" + CHANGING + '/');
    int end = words.lastIndexOf('/', partition < 0 ? words.length() : partition);
    return new PathKind(words.substring(0, Math.max(0, end)));
  }

  /** The key of the kind in a block pool, never 0. */
  public long key(String pool) {
    return hash(pool + '/' + words);
  }

  /** The key of the kind that an {@link #ATTRIBUTE} names, never 0. */
  public static long keyOfAttribute(String pool, String value) {
    return hash(pool + '=' + value);
  }

  private static long hash(String text) {
    long hash = HASH.hashString(text, StandardCharsets.UTF_8).asLong();
    return hash == 0 ? 1 : hash;
  }

  /** As the trash names what it keeps, where something follows. */
  private static boolean isCheckpoint(String[] names, int at) {
    if (at >= names.length - 1) {
      return false;
    }
    String name = names[at];
    return name.equals("Current")
        || (name.length() >= 10 && name.chars().allMatch(c -> c == '-' || isDecimal((char) c)));
  }

  private static boolean isOneOf(String name, List<String> entries) {
    for (String entry : entries) {
      boolean isBeginning = !Character.isLetter(entry.charAt(entry.length() - 1));
      if (isBeginning ? name.startsWith(entry) : name.equals(entry)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a folder among what is staged is that of a job: named, or but an identifier. */
  private static boolean isOfJob(String name) {
    if (isOneOf(name, JOBS) || (name.startsWith(".") && name.endsWith("_dir"))) {
      return true;
    }
    StringBuilder general = new StringBuilder();
    append(general, name);
    return general.chars().noneMatch(Character::isLetter) && name.indexOf('=') < 0;
  }

  private static String complete(String name) {
    String complete = name.startsWith(HIVE_PREFIX) ? name.substring(HIVE_PREFIX.length()) : name;
    for (String suffix : SUFFIXES) {
      int at = complete.lastIndexOf(suffix);
      String after = at < 1 ? "-" : complete.substring(at + suffix.length());
      // Flink hides the file, and adds a UUID.
      if (after.isEmpty() || (after.startsWith(".") && length(after, 1, IDENTIFIERS[0]) > 0)) {
        return complete.substring(!after.isEmpty() && complete.startsWith(".") ? 1 : 0, at);
      }
    }
    return complete;
  }

  /** Appends a name with its changing parts replaced. */
  private static void append(StringBuilder words, String name) {
    for (int at = 0; at < name.length(); ) {
      int identifier = identifier(name, at);
      int length = identifier > 0 ? identifier : 1;
      if (identifier > 0) {
        words.append(CHANGING);
      } else if (isAlphanumeric(name.charAt(at))) {
        length = tokenLength(name, at);
        appendToken(words, name, at, at + length);
      } else {
        words.append(name.charAt(at));
      }
      at += length;
    }
  }

  /** The length of the identifier that begins there, 0 for none. */
  private static int identifier(String name, int at) {
    for (String shape : IDENTIFIERS) {
      int length = length(name, at, shape);
      if (length > 0) {
        return length;
      }
    }
    return 0;
  }

  private static int length(String name, int at, String shape) {
    if (at + shape.length() > name.length()) {
      return 0;
    }
    for (int i = 0; i < shape.length(); i++) {
      char c = name.charAt(at + i);
      boolean fits =
          switch (shape.charAt(i)) {
            case 'h' -> isHexadecimal(c);
            case 'd' -> isDecimal(c);
            case 'x' -> isAlphanumeric(c);
            default -> c == '-' || c == '_';
          };
      if (!fits) {
        return 0;
      }
    }
    return shape.length();
  }

  /** The letters and digits from there on, up to an identifier. */
  private static int tokenLength(String name, int at) {
    int end = at + 1;
    while (end < name.length() && isAlphanumeric(name.charAt(end)) && identifier(name, end) == 0) {
      end++;
    }
    return end - at;
  }

  private static void appendToken(StringBuilder words, String name, int from, int to) {
    int digits = 0;
    int hexadecimal = 0;
    int changes = 0;
    for (int i = from; i < to; i++) {
      boolean decimal = isDecimal(name.charAt(i));
      digits += decimal ? 1 : 0;
      hexadecimal += isHexadecimal(name.charAt(i)) ? 1 : 0;
      changes += i > from && decimal != isDecimal(name.charAt(i - 1)) ? 1 : 0;
    }
    int length = to - from;
    boolean hash = digits > 0 && length >= HASH_CHARS && hexadecimal == length;
    if (digits == length || hash || (changes >= RANDOM_CHANGES && length >= RANDOM_CHARS)) {
      words.append(CHANGING);
      return;
    }
    for (int i = from; i < to; i++) {
      if (!isDecimal(name.charAt(i))) {
        words.append(name.charAt(i));
      } else if (i == from || !isDecimal(name.charAt(i - 1))) {
        words.append(CHANGING);
      }
    }
  }

  private static boolean isDecimal(char c) {
    return Character.isDigit(c);
  }

  private static boolean isHexadecimal(char c) {
    return Character.digit(c, 16) >= 0;
  }

  private static boolean isAlphanumeric(char c) {
    return Character.isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
}
