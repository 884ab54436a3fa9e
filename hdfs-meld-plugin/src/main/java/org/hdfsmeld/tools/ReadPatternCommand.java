package org.hdfsmeld.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.model.ReadPattern;

/** Sets, shows and removes the attribute of a file or directory. The path comes last. */
final class ReadPatternCommand extends Command {
  private interface Action {
    int on(FileSystem fileSystem, Path path, Context context, List<String> arguments)
        throws IOException;
  }

  private final Action action;

  private ReadPatternCommand(String name, String arguments, String help, Action action) {
    super(name, arguments, help);
    this.action = action;
  }

  /** Sets it. */
  static ReadPatternCommand set() {
    return new ReadPatternCommand(
        "-setReadPattern",
        "<pattern> <path>",
        "Set how a file, or every file below a directory, will be read: sequential, random, none"
            + " (no hint), or auto (the DataNode finds out). Counts for blocks written from"
            + " then on. The nearest ancestor's pattern counts.",
        ReadPatternCommand::set);
  }

  /** Shows the one that counts. */
  static ReadPatternCommand get() {
    return new ReadPatternCommand(
        "-getReadPattern",
        "<path>",
        "Show the read pattern of a file or directory, and which ancestor it comes from.",
        (fileSystem, path, context, arguments) -> {
          EffectiveReadPattern effective = EffectiveReadPattern.of(fileSystem, path);
          String pattern = effective.describe(fileSystem, path);
          context.out().println("The read pattern of " + path + ": " + pattern);
          return OK;
        });
  }

  /** Removes it. */
  static ReadPatternCommand unset() {
    return new ReadPatternCommand(
        "-unsetReadPattern",
        "<path>",
        "Remove the read pattern of a file or directory, so that an ancestor's counts again.",
        (fileSystem, path, context, arguments) -> {
          if (fileSystem.getXAttrs(path).containsKey(ReadPattern.XATTR)) {
            fileSystem.removeXAttr(path, ReadPattern.XATTR);
            context.out().println("Unset read pattern from " + path);
          } else {
            context.out().println("The read pattern of " + path + " was not set");
          }
          return OK;
        });
  }

  private static int set(FileSystem fileSystem, Path path, Context context, List<String> arguments)
      throws IOException {
    Optional<ReadPattern> pattern = ReadPattern.parse(arguments.get(0));
    if (pattern.isEmpty()) {
      String remedy = "'; use sequential, random, none or auto.";
      context.err().println("Unknown read pattern '" + arguments.get(0) + remedy);
      return USAGE;
    }
    String text = pattern.get().text();
    fileSystem.setXAttr(path, ReadPattern.XATTR, text.getBytes(StandardCharsets.UTF_8));
    context.out().println("Set read pattern " + text + " on " + path);
    return OK;
  }

  @Override
  int run(Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(arguments.size() - 1));
    return action.on(path.getFileSystem(context.conf()), path, context, arguments);
  }
}
