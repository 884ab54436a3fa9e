package org.hdfsmeld.tools;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.hdfsmeld.datanode.sink.HintReach;
import org.hdfsmeld.datanode.sink.WriteLifetimeSink;

/** Shows whether the disk of a local folder can keep two classes of data apart. */
final class PlacementCheckCommand {
  static final Command CHECK =
      new Command(
          "-placement-check",
          "<local folder>",
          "Give a new file in a folder of this host the write-lifetime hints of both classes, and"
              + " say whether anything below can tell them apart.",
          PlacementCheckCommand::run);

  private PlacementCheckCommand() {}

  private static int run(Command.Context context, List<String> values) throws IOException {
    Path folder = Path.of(values.get(0));
    boolean kept = WriteLifetimeSink.isKept(folder);
    HintReach reach = HintReach.of(folder);
    context.out().printf("%s: the file system %s hints%n", folder, kept ? "keeps" : "refuses");
    boolean apart = kept && reach.isEffective();
    String told = apart ? "told apart" : "not told apart";
    context.out().printf("%s: %s; %s%n", folder, told, reach.text());
    return apart ? Command.OK : Command.FAILED;
  }
}
