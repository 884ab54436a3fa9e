package org.hdfsmeld.datanode.volume;

import java.io.File;
import java.util.OptionalLong;

/**
 * Tells block files from the other files of a volume by their names: {@code blk_<id>} holds data,
 * {@code blk_<id>_<generation stamp>.meta} its checksums.
 */
public final class BlockFiles {
  private static final String PREFIX = "blk_";
  private static final String META_SUFFIX = ".meta";

  private BlockFiles() {}

  /** The block whose data {@code file} holds. */
  public static OptionalLong dataBlockId(File file) {
    String name = file.getName();
    return name.startsWith(PREFIX) ? parse(name.substring(PREFIX.length())) : OptionalLong.empty();
  }

  /** The file in {@code folder} that holds the block's data. */
  public static File dataFile(File folder, long blockId) {
    return new File(folder, PREFIX + blockId);
  }

  /** The block whose checksums {@code file} holds. */
  static OptionalLong metaBlockId(File file) {
    String name = file.getName();
    int stamp = name.lastIndexOf('_');
    if (!name.startsWith(PREFIX) || !name.endsWith(META_SUFFIX) || stamp < PREFIX.length()) {
      return OptionalLong.empty();
    }
    return parse(name.substring(PREFIX.length(), stamp));
  }

  /**
   * The block pool that {@code file} belongs to: the folder right under the volume's {@code
   * current}. Null when the file is elsewhere.
   */
  static String pool(File currentDir, File file) {
    String base = currentDir.getPath() + File.separator;
    String path = file.getPath();
    if (!path.startsWith(base)) {
      return null;
    }
    int end = path.indexOf(File.separatorChar, base.length());
    return end < 0 ? null : path.substring(base.length(), end);
  }

  private static OptionalLong parse(String digits) {
    try {
      return OptionalLong.of(Long.parseLong(digits));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
