package org.hdfsmeld.demo.placement;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.hdfsmeld.demo.cluster.EmbeddedCluster;
import org.hdfsmeld.demo.process.Cleanup;
import org.hdfsmeld.demo.process.Terminal;
import org.hdfsmeld.demo.process.Workspace;
import org.hdfsmeld.demo.volumes.Volumes;

/** The same mixed load on one DataNode, placement after placement. */
public final class PlacementRun {
  /** Stages that the terminal shows: one a placement. */
  public static final int STAGES = Placement.values().length;

  // Small, so that a placement has many of each kind; past what is melded by size.
  private static final int BLOCK_BYTES = 8 << 20;
  private static final int WINDOW_BYTES = 4 << 20;
  private static final int FILES = 2;
  private static final int PART_BYTES = 1 << 20;
  private static final Path SCANS = new Path("/scans");
  private static final Path LOOKUPS = new Path("/lookups");

  private final PlacementSettings settings;
  private final Workspace workspace;
  private final Cleanup cleanup;
  private final Terminal terminal;

  /**
   * What the user chose.
   *
   * @param dilation wall seconds of a simulated second
   * @param seconds measured in each placement
   * @param fileBytes of each of the files
   * @param scanMibPerSecond the scans' pace together, device time
   */
  public record PlacementSettings(
      double dilation, double seconds, int fileBytes, double scanMibPerSecond) {
    MixedLoad.Shape shape() {
      return new MixedLoad.Shape(scanMibPerSecond / dilation, 4, 50, 3, seconds);
    }

    /** All data of one placement, checksums, logs, and room that HDFS leaves on a volume. */
    public long neededBytes() {
      return 2L * FILES * fileBytes / 100 * 105 + (2L << 30);
    }
  }

  /** A run that adds what it starts to the cleanup. */
  public PlacementRun(
      PlacementSettings settings, Workspace workspace, Cleanup cleanup, Terminal terminal) {
    this.settings = settings;
    this.workspace = workspace;
    this.cleanup = cleanup;
    this.terminal = terminal;
  }

  /** Runs all placements; fails if a simulated device did. */
  public PlacementResult run() throws Exception {
    List<PlacementResult.Row> rows = new ArrayList<>();
    for (Placement placement : Placement.values()) {
      rows.add(
          terminal.stage(
              placement.title() + ": write, then scan and look up",
              () -> -1,
              () -> measure(placement),
              row ->
                  String.format(
                      Locale.ROOT,
                      "measured: p99 of %d lookups %,.1f ms",
                      row.outcome().lookupMs().size(),
                      row.p99Ms())));
    }
    return new PlacementResult(settings.dilation(), settings.shape().scanMibPerSecond(), rows);
  }

  private PlacementResult.Row measure(Placement placement) throws Exception {
    File directory = workspace.resolve("hdfs-" + placement.name()).toFile();
    int devices = placement.profiles().size();
    EmbeddedCluster cluster =
        EmbeddedCluster.start(configuration(placement, directory), directory, 1, devices);
    cleanup.add(cluster::close);
    Volumes volumes = Volumes.find(devices);
    FileSystem fileSystem = cluster.fileSystem();
    // By turns, so that neither kind has a first choice of the volumes.
    mark(fileSystem, SCANS, "sequential");
    mark(fileSystem, LOOKUPS, "random");
    for (int i = 0; i < FILES; i++) {
      write(fileSystem, new Path(SCANS, "part-" + i));
      write(fileSystem, new Path(LOOKUPS, "part-" + i));
    }
    List<Long> blocks = volumes.counters().stream().map(c -> c.get("blocks_mapped")).toList();

    volumes.setTimeDilation(settings.dilation());
    volumes.setMode("real-time");
    MixedLoad.Outcome outcome = new MixedLoad(fileSystem, settings.shape()).run(SCANS, LOOKUPS);
    volumes.check();
    cluster.delete();
    return new PlacementResult.Row(placement, outcome, blocks);
  }

  private static void mark(FileSystem fileSystem, Path directory, String pattern)
      throws IOException {
    fileSystem.mkdirs(directory);
    fileSystem.setXAttr(
        directory, "user.meld.read-pattern", pattern.getBytes(StandardCharsets.UTF_8));
  }

  private void write(FileSystem fileSystem, Path file) throws IOException {
    byte[] part = new byte[PART_BYTES];
    new Random(1).nextBytes(part);
    try (FSDataOutputStream out = fileSystem.create(file, true)) {
      for (int written = 0; written < settings.fileBytes(); written += PART_BYTES) {
        out.write(part);
      }
    }
  }

  private Configuration configuration(Placement placement, File directory) {
    Configuration conf = EmbeddedCluster.configuration(workspace, BLOCK_BYTES, WINDOW_BYTES);
    List<String> profiles = new ArrayList<>();
    for (int i = 0; i < placement.profiles().size(); i++) {
      // Where MiniDFSCluster puts the volumes.
      File volume = new File(directory, "data/data" + (i + 1));
      profiles.add(volume + "=" + placement.profiles().get(i));
    }
    conf.set("dfs.datanode.meld.volume.profiles", String.join(",", profiles));
    if (placement.policy() != null) {
      conf.set(DFSConfigKeys.DFS_DATANODE_FSDATASET_VOLUME_CHOOSING_POLICY_KEY, placement.policy());
    }
    conf.set(DFSConfigKeys.DFS_NAMENODE_PLUGINS_KEY, "org.hdfsmeld.namenode.ReadPatternService");
    // A busy machine must not turn a hint into none.
    conf.set("dfs.datanode.meld.hint.timeout", "10s");
    conf.setLong("dfs.datanode.round-robin-volume-choosing-policy.additional-available-space", 0);
    return conf;
  }
}
