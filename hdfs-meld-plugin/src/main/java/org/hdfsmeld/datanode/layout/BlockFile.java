package org.hdfsmeld.datanode.layout;

import java.io.File;

/** The file of a block that is open. */
@FunctionalInterface
public interface BlockFile {
  /** Its present length in bytes. */
  long length();

  /**
   * Whether it still has its name: an open file can be read after HDFS has deleted the block, which
   * the device then has no more.
   */
  default boolean exists() {
    return true;
  }

  /** A file by its name. */
  static BlockFile of(File file) {
    return new BlockFile() {
      @Override
      public long length() {
        return file.length();
      }

      @Override
      public boolean exists() {
        return file.exists();
      }
    };
  }
}
