package org.hdfsmeld.tools;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.hdfsmeld.record.RecordFiles;
import org.hdfsmeld.record.RecordKind;
import org.hdfsmeld.rpc.MeldDatanode;
import org.hdfsmeld.rpc.RecordingStatus;

/** Records what the DataNodes do, and brings the files here. */
final class RecordingCommand {
  private static final Pattern UUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  static final Command TRACES =
      of(
          "-trace",
          RecordKind.TRACE,
          "Start or stop recording the block I/O of every live DataNode, or fetch the files to a"
              + " local folder (default: the present one), where only their owner can read them."
              + " Replay them with meldsim run --trace or meldsim what-if. Needs superuser"
              + " privilege.");

  static final Command TIMELINES =
      of(
          "-timeline",
          RecordKind.TIMELINE,
          "Start or stop recording what the readers and the devices of every live DataNode do, the"
              + " latest of it, or fetch the files to a local folder (default: the present one),"
              + " where only their owner can read them. Make one timeline of them with meldsim"
              + " timeline --join. Needs superuser privilege.");

  private RecordingCommand() {}

  private static Command of(String name, RecordKind kind, String help) {
    String arguments = "<start|stop|fetch> [<local-folder>]";
    return new Command(name, arguments, help, (context, values) -> run(kind, context, values));
  }

  private static int run(RecordKind kind, Command.Context context, List<String> arguments)
      throws IOException {
    String action = arguments.get(0);
    boolean fetches = action.equals("fetch");
    if (!fetches && (!Set.of("start", "stop").contains(action) || arguments.size() > 1)) {
      Command used = kind == RecordKind.TRACE ? TRACES : TIMELINES;
      context.err().println("Usage: hdfs meld " + used.usage());
      return Command.USAGE;
    }
    Path folder = Path.of(fetches && arguments.size() > 1 ? arguments.get(1) : ".");
    return Cluster.forEachDataNode(
        context,
        (dataNode, asked) -> {
          switch (action) {
            case "start" -> print(context, asked.start(kind));
            case "stop" -> print(context, asked.stop(kind));
            default -> fetch(kind, context, asked, dataNode.getDatanodeUuid(), folder);
          }
        });
  }

  private static void print(Command.Context context, RecordingStatus status) {
    String state = status.recording() ? "Recording" : "Stopped";
    String format = "  %s: %d records, %d dropped, %d files%n";
    int files = status.files().size();
    context.out().printf(format, state, status.records(), status.dropped(), files);
    if (!status.lastError().isEmpty()) {
      context.out().println("  It ended by itself: " + status.lastError());
    }
  }

  private static void fetch(
      RecordKind kind, Command.Context context, MeldDatanode asked, String uuid, Path folder)
      throws IOException {
    RecordingStatus status = asked.status(kind);
    List<RecordingStatus.File> files = status.files();
    if (status.recording() && kind == RecordKind.TRACE && !files.isEmpty()) {
      context.out().println("  Recording: the last file is left, as it is incomplete");
      files = files.subList(0, files.size() - 1);
    }
    Files.createDirectories(folder);
    for (RecordingStatus.File file : files) {
      Path target = target(kind, folder, uuid, file.name());
      context.out().printf("  %s: %d bytes%n", target, fetch(kind, asked, file, target));
    }
  }

  /** What a DataNode says names a file in the folder, or nothing. */
  static Path target(RecordKind kind, Path folder, String uuid, String file) throws IOException {
    if (!UUID.matcher(uuid).matches() || !kind.isName(file)) {
      throw new IOException("'" + file + "' of DataNode '" + uuid + "' is no name of a recording");
    }
    return folder.resolve(uuid + "-" + file);
  }

  private static long fetch(
      RecordKind kind, MeldDatanode asked, RecordingStatus.File file, Path target)
      throws IOException {
    long room = Files.getFileStore(target.toAbsolutePath().getParent()).getUsableSpace();
    if (file.bytes() > room) {
      throw new IOException(target + " would have " + file.bytes() + " bytes; " + room + " fit");
    }
    Files.deleteIfExists(target);
    long bytes = 0;
    try (OutputStream out = RecordFiles.createPrivate(target)) {
      byte[] part = asked.read(kind, file.name(), 0);
      while (part.length > 0) {
        bytes += part.length;
        if (bytes > file.bytes()) {
          throw new IOException(target + " has more than the " + file.bytes() + " bytes announced");
        }
        out.write(part);
        part = asked.read(kind, file.name(), bytes);
      }
    }
    return bytes;
  }
}
