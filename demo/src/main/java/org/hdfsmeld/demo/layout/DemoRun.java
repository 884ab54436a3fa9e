package org.hdfsmeld.demo.layout;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.demo.cluster.EmbeddedCluster;
import org.hdfsmeld.demo.cluster.EmbeddedSpark;
import org.hdfsmeld.demo.cluster.HdfsTraffic;
import org.hdfsmeld.demo.process.Cleanup;
import org.hdfsmeld.demo.process.Terminal;
import org.hdfsmeld.demo.process.Workspace;
import org.hdfsmeld.demo.volumes.Counters;
import org.hdfsmeld.demo.volumes.DeviceFigures;
import org.hdfsmeld.demo.volumes.Sampler;
import org.hdfsmeld.demo.volumes.Volumes;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.generate.TableFiles;
import org.hdfsmeld.spark.scan.TableScan;

/** The run itself: cluster, two data sets, and their scans. */
public final class DemoRun {
  /** Stages before those of the rounds. */
  private static final int STAGES_BEFORE = 6;

  /** The devices' own speed: a simulated second takes a second. */
  private static final double UNDILATED = 1;

  private static final double MIB = 1L << 20;
  private static final String NORMAL = "/tpch/normal";
  private static final String MELDED = "/tpch/melded";

  private final Settings settings;
  private final Workspace workspace;
  private final Cleanup cleanup;
  private final Terminal terminal;

  private EmbeddedCluster cluster;
  private Volumes volumes;
  private SparkSession spark;

  /** Null where none is asked for. */
  private RunTimeline timeline;

  /** A run that adds what it starts to the cleanup. */
  public DemoRun(Settings settings, Workspace workspace, Cleanup cleanup, Terminal terminal) {
    this.settings = settings;
    this.workspace = workspace;
    this.cleanup = cleanup;
    this.terminal = terminal;
  }

  /** Runs all stages; fails if a simulated device did. */
  public DemoResult run() throws Exception {
    terminal.stage(
        "start HDFS (1 NameNode, 3 DataNodes) and Spark local[2]",
        () -> -1,
        this::start,
        started -> "one simulated " + settings.profile() + " under each DataNode");
    DataSet normalData = generate("write TPC-H, normal layout (directive off)", NORMAL, false);
    DataSet meldedData =
        generate(
            settings.directive()
                ? "write TPC-H, melded layout (sequential directive)"
                : "write TPC-H again (control: directive off)",
            MELDED,
            settings.directive());

    double deviceRate = warmUp(meldedData);
    VariantResult stock = stock(normalData);
    Calibration calibration = calibrate(stock, deviceRate, normalData.bytes() / MIB);
    Rounds undilated = undilated(normalData, meldedData);
    volumes.setTimeDilation(calibration.dilation());
    double dilation = calibration.dilation();
    if (timeline != null) {
      timeline.start();
    }
    Rounds paced =
        Rounds.run(
            settings.rounds(),
            () -> paced("normal", normalData, dilation),
            () -> paced("melded", meldedData, dilation));
    if (timeline != null) {
      timeline.stop();
    }
    return DemoResult.of(
        settings, List.of(normalData, meldedData), calibration, stock, undilated, paced);
  }

  /** Stages that the terminal shows. */
  public static int stages(Settings settings) {
    return STAGES_BEFORE + 2 * settings.rounds();
  }

  /** The session of the run, until the cleanup. */
  public SparkSession spark() {
    return spark;
  }

  private Void start() throws Exception {
    cluster =
        EmbeddedCluster.start(
            configuration(), workspace.resolve("hdfs").toFile(), Settings.DATA_NODES, 1);
    cleanup.add(cluster::close);
    volumes = Volumes.find(Settings.DATA_NODES);
    Map<String, String> more = Map.of();
    if (settings.timeline() != null) {
      timeline = new RunTimeline(cluster, workspace.resolve("timeline"));
      more = timeline.sparkConfiguration();
    }
    spark = EmbeddedSpark.start(cluster.clientConfiguration(), workspace, Settings.READERS, more);
    cleanup.add(spark::stop);
    return null;
  }

  /**
   * Writes the timeline that was asked for, and says what came of it in a line. Spark ends with it,
   * which completes its part.
   */
  public String writeTimeline() throws Exception {
    spark.stop();
    return timeline.write(settings.timeline());
  }

  private Configuration configuration() {
    Configuration conf =
        EmbeddedCluster.configuration(workspace, settings.blockSize(), settings.window());
    conf.set("dfs.datanode.meld.trace.dir", workspace.resolve("traces").toString());
    conf.set("dfs.datanode.meld.profile", settings.profile());
    conf.set("dfs.datanode.meld.readahead.mode", settings.windowMode().name());
    // This JVM has no native library; the DataNodes that the demo stands for do.
    conf.setBoolean("dfs.datanode.meld.readahead.linux.fadvise", true);
    conf.setClass(
        DFSConfigKeys.DFS_BLOCK_REPLICATOR_CLASSNAME_KEY,
        PartFilePlacementPolicy.class,
        PartFilePlacementPolicy.class.getSuperclass().getSuperclass());
    // Else a busy DataNode is passed over, whatever the policy says.
    conf.setBoolean(DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD_KEY, false);
    return conf;
  }

  /**
   * Returns when each device has programmed all it was given: an hsync of a file on each volume
   * becomes a flush of its device. Else a scan would compete with writes that HDFS has long
   * acknowledged, and read what is still in the devices' write buffers.
   */
  private void flushDevices() throws IOException {
    FileSystem fs = cluster.fileSystem();
    for (int node = 0; node < Settings.DATA_NODES; node++) {
      Path file = new Path("/flush/part-" + node);
      try (FSDataOutputStream out = fs.create(file, true)) {
        out.write(0);
        out.hsync();
      }
    }
    fs.delete(new Path("/flush"), true);
  }

  private DataSet generate(String label, String path, boolean directive) throws Exception {
    return terminal.stage(
        label,
        HdfsTraffic.writtenFraction(settings.estimatedBytes()),
        () -> {
          volumes.setHint(directive);
          List<Counters> before = volumes.settledCounters();
          long start = System.nanoTime();
          List<TableFiles.Written> written =
              TableFiles.generate(
                  spark,
                  new TableFiles.Request(
                      settings.scale(),
                      List.of(Format.TEXT),
                      settings.files(),
                      settings.ordersFiles(),
                      path,
                      false));
          flushDevices();
          volumes.check();
          double seconds = (System.nanoTime() - start) / 1e9;
          return DataSet.of(
              path,
              directive,
              written.stream().mapToInt(TableFiles.Written::files).sum(),
              written.stream().mapToLong(TableFiles.Written::bytes).sum(),
              seconds,
              volumes.countersSince(before));
        },
        data ->
            String.format(
                Locale.ROOT,
                "%,.0f MiB in %d files; melded pages %.0f %%; writes are accounted, not paced",
                data.bytes() / MIB,
                data.files(),
                100 * data.meldedMappedShare()));
  }

  /** Scans in account mode: warms the JVM up, and shows what the device can do. */
  private double warmUp(DataSet data) throws Exception {
    return terminal.stage(
        "warm up: scan, device time accounted",
        HdfsTraffic.readFraction(data.bytes()),
        () -> {
          List<Counters> before = volumes.settledCounters();
          scan(data);
          return DeviceFigures.mean(volumes.countersSince(before), 1).mibPerSecond();
        },
        rate -> String.format(Locale.ROOT, "simulated: one device delivers %,.0f MiB/s", rate));
  }

  private VariantResult stock(DataSet data) throws Exception {
    return terminal.stage(
        "scan, plugin off (stock)",
        HdfsTraffic.readFraction(data.bytes()),
        () -> {
          volumes.setMode("off");
          return VariantResult.stock(scan(data));
        },
        stock ->
            String.format(
                Locale.ROOT,
                "measured: Spark %,.0f MiB/s, one reader %,.0f MiB/s",
                stock.wallMibPerSecond(),
                stock.readerMibPerSecond()));
  }

  private Calibration calibrate(VariantResult stock, double deviceRate, double dataMib) {
    double hostRate = stock.readerMibPerSecond();
    Calibration calibration =
        settings.dilation().isPresent()
            ? Calibration.fixed(hostRate, deviceRate, settings.dilation().getAsDouble())
            : Calibration.automatic(
                hostRate,
                deviceRate,
                settings.slowdown(),
                dataMib,
                Settings.READERS,
                Published.GAIN,
                Settings.PACED_SCANS_SECONDS);
    terminal.say(calibration.describe());
    return calibration;
  }

  /** What melding gains where the host is the limit. A scan takes seconds, so there are rounds. */
  private Rounds undilated(DataSet normal, DataSet melded) throws Exception {
    return terminal.stage(
        "scan both layouts, devices at their own speed",
        () -> -1,
        () -> {
          volumes.setTimeDilation(UNDILATED);
          return Rounds.run(
              Settings.UNDILATED_ROUNDS,
              () -> pacedScan("normal", normal, UNDILATED),
              () -> pacedScan("melded", melded, UNDILATED));
        },
        rounds ->
            String.format(
                Locale.ROOT,
                "measured: readers waited %.1f %%, gain %.2f (%.2f to %.2f in %d rounds)",
                100 * rounds.normal().readerWaitShare(),
                rounds.gain(),
                rounds.least(),
                rounds.most(),
                rounds.gains().size()));
  }

  private VariantResult paced(String name, DataSet data, double dilation) throws Exception {
    return terminal.stage(
        "scan, " + name + (data.directive() || name.equals("normal") ? " layout" : " (control)"),
        HdfsTraffic.readFraction(data.bytes()),
        () -> pacedScan(name, data, dilation),
        variant ->
            String.format(
                Locale.ROOT,
                "simulated: %,.0f MiB/s end to end in device time; readers waited %.1f %%",
                variant.endToEndMibPerSecond(),
                100 * variant.readerWaitShare()));
  }

  private VariantResult pacedScan(String name, DataSet data, double dilation) throws Exception {
    volumes.setMode("real-time");
    List<Counters> before = volumes.settledCounters();
    TableScan.Result scan;
    List<Sampler.Sample> samples;
    try (Sampler sampler = Sampler.start(volumes)) {
      scan = scan(data);
      samples = sampler.samples();
    }
    volumes.check();
    return VariantResult.paced(name, dilation, scan, volumes.countersSince(before), samples);
  }

  private TableScan.Result scan(DataSet data) throws Exception {
    return TableScan.scan(
        spark, new TableScan.Request(Format.TEXT, List.of(data.path() + "/text"), true));
  }
}
