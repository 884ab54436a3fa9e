package org.hdfsmeld.datanode.volume;

import java.io.File;
import java.util.OptionalLong;
import org.apache.hadoop.hdfs.protocol.Block;

/**
 * Tells block files from the other files of a volume by their names: {@code blk_<id>} holds data,
 * {@code blk_<id>_<generation stamp>.meta} its checksums.
 */
public final class BlockFiles {
  private BlockFiles() {}

  /** The block whose data {@code file} holds. */
  public static OptionalLong dataBlockId(File file) {
    return Block.isBlockFilename(file)
        ? OptionalLong.of(Block.filename2id(file.getName()))
        : OptionalLong.empty();
  }

  public static File dataFile(File folder, long blockId) {
    return new File(folder, Block.BLOCK_FILE_PREFIX + blockId);
  }

  /** The block whose checksums {@code file} holds. */
  static OptionalLong metaBlockId(File file) {
    return Block.isMetaFilename(file.getName())
        ? OptionalLong.of(Block.getBlockId(file.getName()))
        : OptionalLong.empty();
  }

  /** The block pool of a file under the volume's {@code current}; null when it is elsewhere. */
  static String pool(File currentDir, File file) {
    String base = currentDir.getPath() + File.separator;
    String path = file.getPath();
    if (!path.startsWith(base)) {
      return null;
    }
    int end = path.indexOf(File.separatorChar, base.length());
    return end < 0 ? null : path.substring(base.length(), end);
  }
}
