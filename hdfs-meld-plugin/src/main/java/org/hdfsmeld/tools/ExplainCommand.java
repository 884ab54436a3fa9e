package org.hdfsmeld.tools;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.protocol.LocatedStripedBlock;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.ReadPatterns;

/** Shows for each block of a file where its replicas are, how they are laid out, and why. */
final class ExplainCommand {
  static final Command EXPLAIN =
      new Command(
          "-explain",
          "<path>",
          "Show for each block of a file where its replicas are, its read pattern, who decided it"
              + " and why, and how it is laid out on the simulated device.",
          ExplainCommand::run);

  /** A block on one DataNode, and what shows there that it may be read. */
  private record Replica(DatanodeInfo dataNode, long blockId, Token<BlockTokenIdentifier> token) {}

  private ExplainCommand() {}

  private static int run(Command.Context context, List<String> arguments) throws IOException {
    Path path = new Path(arguments.get(0));
    FileSystem files = path.getFileSystem(context.conf());
    Path resolved = files.resolvePath(path);
    DistributedFileSystem hdfs = Cluster.of(resolved.getFileSystem(context.conf()));
    FileStatus status = hdfs.getFileStatus(resolved);
    EffectiveReadPattern effective = EffectiveReadPattern.of(files, path);
    String pattern = effective.describe(files, path);
    if (status.isDirectory()) {
      context.out().println(path + ": a directory, read pattern " + pattern);
      return Command.OK;
    }
    PrintStream out = context.out();
    LocatedBlocks located =
        hdfs.getClient().getLocatedBlocks(status.getPath().toUri().getPath(), 0, Long.MAX_VALUE);
    List<LocatedBlock> blocks = located.getLocatedBlocks();
    ErasureCodingPolicy striping = located.getErasureCodingPolicy();
    String kind = striping == null ? "blocks" : "block groups of " + striping.getName();
    out.printf(
        "%s: %d bytes in %d %s, read pattern %s%n",
        path, status.getLen(), blocks.size(), kind, pattern);
    String pool = blocks.isEmpty() ? "" : blocks.get(0).getBlock().getBlockPoolId();
    Kinds kinds = Kinds.of(hdfs, status.getPath().toUri().getPath(), pool);
    Map<Replica, String> texts =
        ask(context, blocks, layout -> effective.reason(files, path, layout), kinds);
    for (int i = 0; i < blocks.size(); i++) {
      LocatedBlock block = blocks.get(i);
      String name = block.getBlock().getBlockName();
      out.printf("%d. %s: %d bytes%n", i, name, block.getBlockSize());
      for (Replica replica : replicas(block)) {
        String internal = "";
        if (striping != null) {
          long index = replica.blockId() - block.getBlock().getBlockId();
          String unit = index < striping.getNumDataUnits() ? "data" : "parity";
          internal = "blk_" + replica.blockId() + " (" + unit + ") ";
        }
        String address = replica.dataNode().getXferAddr();
        out.printf("   %s%s %s%n", internal, address, texts.get(replica));
      }
    }
    return Command.OK;
  }

  private static List<Replica> replicas(LocatedBlock block) {
    List<Replica> replicas = new ArrayList<>();
    DatanodeInfo[] locations = block.getLocations();
    for (int i = 0; i < locations.length; i++) {
      long id = block.getBlock().getBlockId();
      // Of a block group each DataNode has an internal block.
      replicas.add(
          block instanceof LocatedStripedBlock group
              ? new Replica(
                  locations[i], id + group.getBlockIndices()[i], group.getBlockTokens()[i])
              : new Replica(locations[i], id, block.getBlockToken()));
    }
    replicas.sort(Comparator.comparingLong(Replica::blockId));
    return replicas;
  }

  /** What the DataNodes say of each replica; each is asked for all of its replicas at once. */
  private static Map<Replica, String> ask(
      Command.Context context,
      List<LocatedBlock> blocks,
      FunctionRaisingIOE<BlockLayout, String> reason,
      Kinds kinds) {
    Map<DatanodeInfo, List<Replica>> byDataNode = new LinkedHashMap<>();
    for (LocatedBlock block : blocks) {
      for (Replica replica : replicas(block)) {
        byDataNode.computeIfAbsent(replica.dataNode(), d -> new ArrayList<>()).add(replica);
      }
    }
    Map<Replica, String> texts = new LinkedHashMap<>();
    byDataNode.forEach(
        (dataNode, all) -> {
          for (int from = 0; from < all.size(); from += ReadPatterns.MAX_BLOCKS) {
            int to = Math.min(all.size(), from + ReadPatterns.MAX_BLOCKS);
            List<Replica> replicas = all.subList(from, to);
            String pool = blocks.get(0).getBlock().getBlockPoolId();
            long[] ids = replicas.stream().mapToLong(Replica::blockId).toArray();
            List<Token<BlockTokenIdentifier>> tokens =
                replicas.stream().map(Replica::token).toList();
            try {
              List<BlockLayout> layouts =
                  Cluster.ask(context.conf(), dataNode, d -> d.blockLayouts(pool, ids, tokens));
              for (int i = 0; i < ids.length; i++) {
                String text = text(layouts.get(i), reason.apply(layouts.get(i)));
                texts.put(replicas.get(i), text + kinds.text(layouts.get(i)));
              }
            } catch (IOException e) {
              replicas.forEach(replica -> texts.put(replica, e.getMessage()));
            }
          }
        });
    return texts;
  }

  private static String text(BlockLayout block, String reason) {
    String why = block.pattern() + ", " + block.source() + " (" + reason + ")";
    return block.volume().isEmpty()
        ? "not on a device yet: " + why
        : String.format(
            "%s [%s]: %s; layout %s, %d %% of %d pages melded",
            block.volume(),
            block.profile(),
            why,
            block.layout(),
            block.meldedPercent(),
            block.mappedPages());
  }
}
