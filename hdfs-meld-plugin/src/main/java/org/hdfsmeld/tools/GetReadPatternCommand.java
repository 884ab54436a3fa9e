package org.hdfsmeld.tools;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Shows the attribute that counts for a file or directory. */
final class GetReadPatternCommand extends Command {
  GetReadPatternCommand() {
    super(
        "-getReadPattern",
        "<path>",
        "Show the read pattern of a file or directory, and which ancestor it comes from.");
  }

  @Override
  int run(Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(0));
    FileSystem fileSystem = path.getFileSystem(context.conf());
    EffectiveReadPattern effective = EffectiveReadPattern.of(fileSystem, path);
    context
        .out()
        .println("The read pattern of " + path + ": " + effective.describe(fileSystem, path));
    return OK;
  }
}
