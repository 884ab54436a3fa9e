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

/** Records block traces on the DataNodes, and brings them here. */
final class TraceCommand extends Command {
  TraceCommand() {
    super(
        "-trace",
        "<start|stop|fetch> [<local-folder>]",
        "Start or stop recording the block I/O of every live DataNode, or fetch the files to a"
            + " local folder (default: the present one), where only their owner can read them. Replay"
            + " them with meldsim run --trace or meldsim what-if. Needs superuser privilege.");
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
                case "start" -> print(context, asked.startTrace());
                case "stop" -> print(context, asked.stopTrace());
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

  private static void fetch(Context context, MeldDatanode asked, String uuid, Path folder)
      throws IOException {
    TraceStatus status = asked.traceStatus();
    List<String> files = status.files();
    if (status.recording()) {
      context.out().println("  Recording: the last file is left, as it is incomplete");
      files = files.subList(0, files.size() - 1);
    }
    Files.createDirectories(folder);
    for (String file : files) {
      Path target = folder.resolve(uuid + "-" + Path.of(file).getFileName());
      Files.deleteIfExists(target);
      long bytes = 0;
      try (OutputStream out = create(target)) {
        byte[] part = asked.readTrace(file, 0);
        while (part.length > 0) {
          out.write(part);
          bytes += part.length;
          part = asked.readTrace(file, bytes);
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
