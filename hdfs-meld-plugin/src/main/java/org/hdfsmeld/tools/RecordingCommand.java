package org.hdfsmeld.tools;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.hdfsmeld.rpc.MeldDatanode;
import org.hdfsmeld.rpc.TraceStatus;

/** Records what the DataNodes do, and brings the files here. */
final class RecordingCommand extends Command {
  /** One kind of recording. */
  private interface Kind {
    TraceStatus start(MeldDatanode asked) throws IOException;

    TraceStatus stop(MeldDatanode asked) throws IOException;

    TraceStatus status(MeldDatanode asked) throws IOException;

    byte[] read(MeldDatanode asked, String file, long offset) throws IOException;

    /** Whether the last file is incomplete while recording; else there is none of it yet. */
    boolean isIncomplete();
  }

  private final Kind kind;

  private RecordingCommand(String name, String help, Kind kind) {
    super(name, "<start|stop|fetch> [<local-folder>]", help);
    this.kind = kind;
  }

  /** Block traces. */
  static RecordingCommand ofTraces() {
    return new RecordingCommand(
        "-trace",
        "Start or stop recording the block I/O of every live DataNode, or fetch the files to a"
            + " local folder (default: the present one), where only their owner can read them. Replay"
            + " them with meldsim run --trace or meldsim what-if. Needs superuser privilege.",
        new Kind() {
          @Override
          public TraceStatus start(MeldDatanode asked) throws IOException {
            return asked.startTrace();
          }

          @Override
          public TraceStatus stop(MeldDatanode asked) throws IOException {
            return asked.stopTrace();
          }

          @Override
          public TraceStatus status(MeldDatanode asked) throws IOException {
            return asked.traceStatus();
          }

          @Override
          public byte[] read(MeldDatanode asked, String file, long offset) throws IOException {
            return asked.readTrace(file, offset);
          }

          @Override
          public boolean isIncomplete() {
            return true;
          }
        });
  }

  /** Timelines. */
  static RecordingCommand ofTimelines() {
    return new RecordingCommand(
        "-timeline",
        "Start or stop recording what the readers and the devices of every live DataNode do, the"
            + " latest of it, or fetch the files to a local folder (default: the present one), where"
            + " only their owner can read them. Make one timeline of them with meldsim timeline"
            + " --join. Needs superuser privilege.",
        new Kind() {
          @Override
          public TraceStatus start(MeldDatanode asked) throws IOException {
            return asked.startTimeline();
          }

          @Override
          public TraceStatus stop(MeldDatanode asked) throws IOException {
            return asked.stopTimeline();
          }

          @Override
          public TraceStatus status(MeldDatanode asked) throws IOException {
            return asked.timelineStatus();
          }

          @Override
          public byte[] read(MeldDatanode asked, String file, long offset) throws IOException {
            return asked.readTimeline(file, offset);
          }

          @Override
          public boolean isIncomplete() {
            return false;
          }
        });
  }

  @Override
  int minArguments() {
    return 1;
  }

  @Override
  int run(Context context, List<String> arguments) throws IOException {
    String action = arguments.get(0);
    boolean fetches = action.equals("fetch");
    if (!fetches && (!Set.of("start", "stop").contains(action) || arguments.size() > 1)) {
      context.err().println("Usage: hdfs meld " + usage());
      return USAGE;
    }
    Path folder = Path.of(fetches && arguments.size() > 1 ? arguments.get(1) : ".");
    DistributedFileSystem hdfs = Cluster.of(FileSystem.get(context.conf()));
    int code = OK;
    for (DatanodeInfo dataNode : hdfs.getDataNodeStats(DatanodeReportType.LIVE)) {
      context.out().println("DataNode " + dataNode.getXferAddr());
      try {
        Cluster.ask(
            context.conf(),
            dataNode,
            asked -> {
              switch (action) {
                case "start" -> print(context, kind.start(asked));
                case "stop" -> print(context, kind.stop(asked));
                default -> fetch(context, asked, dataNode.getDatanodeUuid(), folder);
              }
              return null;
            });
      } catch (IOException e) {
        context.out().println("  " + e.getMessage());
        code = FAILED;
      }
    }
    return code;
  }

  private static void print(Context context, TraceStatus status) {
    context
        .out()
        .printf(
            "  %s: %d records, %d dropped, %d files%n",
            status.recording() ? "Recording" : "Stopped",
            status.records(),
            status.dropped(),
            status.files().size());
    if (!status.lastError().isEmpty()) {
      context.out().println("  It ended by itself: " + status.lastError());
    }
  }

  private void fetch(Context context, MeldDatanode asked, String uuid, Path folder)
      throws IOException {
    TraceStatus status = kind.status(asked);
    List<String> files = status.files();
    if (status.recording() && kind.isIncomplete()) {
      context.out().println("  Recording: the last file is left, as it is incomplete");
      files = files.subList(0, files.size() - 1);
    }
    Files.createDirectories(folder);
    for (String file : files) {
      Path target = folder.resolve(uuid + "-" + Path.of(file).getFileName());
      Files.deleteIfExists(target);
      long bytes = 0;
      try (OutputStream out = create(target)) {
        byte[] part = kind.read(asked, file, 0);
        while (part.length > 0) {
          out.write(part);
          bytes += part.length;
          part = kind.read(asked, file, bytes);
        }
      }
      context.out().printf("  %s: %d bytes%n", target, bytes);
    }
  }

  private static OutputStream create(Path target) throws IOException {
    return Channels.newOutputStream(
        Files.newByteChannel(
            target,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))));
  }
}
