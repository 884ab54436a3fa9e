package org.hdfsmeld.tools;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.model.ReadPattern;

/** Removes the attribute of a file or directory. */
final class UnsetReadPatternCommand extends Command {
  UnsetReadPatternCommand() {
    super(
        "-unsetReadPattern",
        "<path>",
        "Remove the read pattern of a file or directory, so that an ancestor's counts again.");
  }

  @Override
  int run(Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(0));
    FileSystem fileSystem = path.getFileSystem(context.conf());
    if (fileSystem.getXAttrs(path).containsKey(ReadPattern.XATTR)) {
      fileSystem.removeXAttr(path, ReadPattern.XATTR);
      context.out().println("Unset read pattern from " + path);
    } else {
      context.out().println("The read pattern of " + path + " was not set");
    }
    return OK;
  }
}
