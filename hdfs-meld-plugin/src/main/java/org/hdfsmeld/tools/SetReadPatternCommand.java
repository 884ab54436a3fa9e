package org.hdfsmeld.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.model.ReadPattern;

/** Sets the attribute of a file or directory. */
final class SetReadPatternCommand extends Command {
  SetReadPatternCommand() {
    super(
        "-setReadPattern",
        "<pattern> <path>",
        "Say how a file, or all that is below a directory, will be read: sequential, random, none"
            + " (no hint), or auto (the DataNode shall find out). Counts for blocks written from then"
            + " on. The nearest ancestor's pattern counts.");
  }

  @Override
  int run(Context context, List<String> arguments) throws IOException {
    Optional<ReadPattern> pattern = ReadPattern.parse(arguments.get(0));
    if (pattern.isEmpty()) {
      context
          .err()
          .println(
              "Unknown read pattern '"
                  + arguments.get(0)
                  + "'; use sequential, random, none or auto.");
      return USAGE;
    }
    Path path = new Path(arguments.get(1));
    path.getFileSystem(context.conf())
        .setXAttr(path, ReadPattern.XATTR, pattern.get().text().getBytes(StandardCharsets.UTF_8));
    context.out().println("Set read pattern " + pattern.get().text() + " on " + path);
    return OK;
  }
}
