package org.hdfsmeld.tools;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.hdfsmeld.model.PathKind;
import org.hdfsmeld.rpc.BlockLayout;

/**
 * The words for the kind of a file's blocks. DataNodes know keys alone: the words come from the
 * path, which the caller may see, and the nearest attribute that names a kind, if there is one.
 */
record Kinds(String pool, PathKind path, String group) {

  static Kinds of(DistributedFileSystem hdfs, String path, String pool) throws IOException {
    // Above what may not be seen nothing is shown: the key tells that it is another kind.
    String group = EffectiveReadPattern.of(hdfs, new Path(path), PathKind.ATTRIBUTE).value();
    return new Kinds(pool, PathKind.of(path), group);
  }

  /** A line on a block's kind; none where it is not known. */
  String text(BlockLayout block) {
    if (block.kind() == 0 || block.known().isEmpty()) {
      return "";
    }
    return "\n      kind " + words(block.kind()) + ": " + block.known();
  }

  private String words(long key) {
    String words = "that it had under another path";
    if (key == path.key(pool)) {
      words = path.words();
    } else if (group != null && key == PathKind.keyOfAttribute(pool, group)) {
      words = PathKind.ATTRIBUTE + '=' + group;
    }
    // Names are anybody's: none moves a terminal's cursor.
    StringBuilder shown = new StringBuilder();
    words.codePoints().forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return shown.toString();
  }
}
