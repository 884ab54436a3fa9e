package org.hdfsmeld.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.model.ReadPattern;

/** Set, show and remove the attribute of a file or directory. The path comes last. */
final class ReadPatternCommand {
  static final Command SET =
      new Command(
          "-setReadPattern",
          "<pattern> <path>",
          "Set how a file, or every file below a directory, will be read: sequential, random, none"
              + " (no hint), or auto (the DataNode finds out). Counts for blocks written from"
              + " then on. The nearest ancestor's pattern counts.",
          ReadPatternCommand::set);

  static final Command GET =
      new Command(
          "-getReadPattern",
          "<path>",
          "Show the read pattern of a file or directory, and which ancestor it comes from.",
          ReadPatternCommand::get);

  static final Command UNSET =
      new Command(
          "-unsetReadPattern",
          "<path>",
          "Remove the read pattern of a file or directory, so that an ancestor's counts again.",
          ReadPatternCommand::unset);

  private ReadPatternCommand() {}

  private static int set(Command.Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(1));
    Optional<ReadPattern> pattern = ReadPattern.parse(arguments.get(0));
    if (pattern.isEmpty()) {
      String remedy = "'; use sequential, random, none or auto.";
      context.err().println("Unknown read pattern '" + arguments.get(0) + remedy);
      return Command.USAGE;
    }
    String text = pattern.get().text();
    path.getFileSystem(context.conf())
        .setXAttr(path, ReadPattern.XATTR, text.getBytes(StandardCharsets.UTF_8));
    context.out().println("Set read pattern " + text + " on " + path);
    return Command.OK;
  }

  private static int get(Command.Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(0));
    FileSystem files = path.getFileSystem(context.conf());
    String pattern = EffectiveReadPattern.of(files, path).describe(files, path);
    context.out().println("The read pattern of " + path + ": " + pattern);
    return Command.OK;
  }

  private static int unset(Command.Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(0));
    FileSystem files = path.getFileSystem(context.conf());
    boolean isSet = files.getXAttrs(path).containsKey(ReadPattern.XATTR);
    if (isSet) {
      files.removeXAttr(path, ReadPattern.XATTR);
    }
    String not = "The read pattern of " + path + " was not set";
    context.out().println(isSet ? "Unset read pattern from " + path : not);
    return Command.OK;
  }
}
