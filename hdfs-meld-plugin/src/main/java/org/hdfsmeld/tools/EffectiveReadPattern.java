package org.hdfsmeld.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.rpc.BlockLayout;

/**
 * The read pattern that counts for a file or directory: its own or the nearest ancestor's, null
 * where nobody has one; or the nearest ancestor whose attributes the user may not read.
 */
record EffectiveReadPattern(String value, Path owner, Path unseen) {

  static EffectiveReadPattern of(FileSystem fileSystem, Path path) throws IOException {
    return of(fileSystem, path, ReadPattern.XATTR);
  }

  /** The same of another attribute. */
  static EffectiveReadPattern of(FileSystem fileSystem, Path path, String attribute)
      throws IOException {
    Path from = fileSystem.resolvePath(path);
    // Of a view of several nameservices, the one that has it.
    FileSystem of = from.getFileSystem(fileSystem.getConf());
    for (Path at = from; at != null; at = at.getParent()) {
      byte[] value;
      try {
        value = of.getXAttrs(at).get(attribute);
      } catch (AccessControlException e) {
        if (at.equals(from)) {
          throw e;
        }
        return new EffectiveReadPattern(null, null, at);
      }
      if (value != null) {
        return new EffectiveReadPattern(new String(value, StandardCharsets.UTF_8), at, null);
      }
    }
    return new EffectiveReadPattern(null, null, null);
  }

  private Optional<ReadPattern> pattern() {
    return value == null ? Optional.empty() : ReadPattern.parse(value);
  }

  /** Why a block of a file has its pattern: an attribute is named by where the file is now. */
  String reason(FileSystem fileSystem, Path path, BlockLayout block) throws IOException {
    if (!block.source().equals(HintDecision.Source.EXPLICIT.text())) {
      return block.reason();
    }
    return pattern().filter(pattern -> pattern.text().equals(block.pattern())).isPresent()
        ? HintDecision.attribute(fileSystem.resolvePath(path).depth() - owner.depth())
        : ReadPattern.XATTR + " as it was when the block was laid out";
  }

  /** For a person: the pattern, and where it comes from. */
  String describe(FileSystem fileSystem, Path path) throws IOException {
    if (unseen != null) {
      return "unknown: the attributes of " + plain(unseen) + " may not be read";
    }
    if (value == null) {
      return "unspecified";
    }
    String from =
        owner.equals(fileSystem.resolvePath(path)) ? "" : " (inherited from " + plain(owner) + ")";
    return pattern()
        .map(pattern -> pattern.text() + from)
        .orElse("'" + value + "', which is no read pattern: taken as unspecified" + from);
  }

  private static String plain(Path path) {
    return Path.getPathWithoutSchemeAndAuthority(path).toString();
  }
}
