package org.hdfsmeld.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.security.AccessControlException;
import org.hdfsmeld.model.PathKind;
import org.hdfsmeld.rpc.BlockLayout;

/**
 * The words for the kind of a file's blocks. DataNodes know keys alone: the words come from the
 * path, which whoever asks may see.
 *
 * @param pool the file's block pool
 * @param path the kind of its path
 * @param group the nearest attribute that names its kind, null where nobody has one
 */
record Kinds(String pool, PathKind path, String group) {

  static Kinds of(DistributedFileSystem hdfs, String path, String pool) throws IOException {
    for (Path at = new Path(path); at != null; at = at.getParent()) {
      try {
        byte[] value = hdfs.getXAttrs(at).get(PathKind.ATTRIBUTE);
        if (value != null) {
          String group = new String(value, StandardCharsets.UTF_8);
          return new Kinds(pool, PathKind.of(path), group);
        }
      } catch (AccessControlException e) {
        // What may not be seen is not shown: the key tells that it is another kind.
        break;
      }
    }
    return new Kinds(pool, PathKind.of(path), null);
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
