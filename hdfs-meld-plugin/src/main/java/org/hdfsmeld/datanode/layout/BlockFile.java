package org.hdfsmeld.datanode.layout;

import java.io.File;

/** The file of a block that is open. */
@FunctionalInterface
public interface BlockFile {
  /** Its present length in bytes. */
  long length();

  /** Its name when it was opened; null when that is not known. */
  default File file() {
    return null;
  }

  /** Whether it has its name still: the device has nothing of a block that HDFS has deleted. */
  default boolean exists() {
    return file() == null || file().exists();
  }

  static BlockFile of(File file) {
    return new BlockFile() {
      @Override
      public long length() {
        return file.length();
      }

      @Override
      public File file() {
        return file;
      }
    };
  }
}
