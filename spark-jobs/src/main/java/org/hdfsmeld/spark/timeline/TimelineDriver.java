package org.hdfsmeld.spark.timeline;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The plugin in the driver: writes the file. */
final class TimelineDriver implements DriverPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(TimelineDriver.class);
  private static final long END_MS = 5000;

  private final AtomicLong dropped = new AtomicLong();
  private final TaskLedger ledger = new TaskLedger();
  private String name;

  /** Null: nothing is recorded. */
  private volatile TimelineWriter writer;

  /** Null where the executor is in this JVM, too. */
  private ReadSender own;

  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    String file = plugin.conf().get(TimelinePlugin.FILE_KEY, "");
    if (file.isEmpty()) {
      return Map.of();
    }
    try {
      writer = new TimelineWriter(Path.of(file));
    } catch (IOException | RuntimeException e) {
      LOG.error("{}: cannot write {}: {}", TimelinePlugin.FILE_KEY, file, e.toString());
      return Map.of();
    }
    warnUnlessRecording(context);
    name = context.appName();
    context.addSparkListener(new TimelineListener(writer, ledger));
    if (!context.isLocal()) {
      own = ReadSender.start(plugin.executorID(), this::accept);
    }
    return Map.of(TimelineExecutor.RECORD_KEY, "true");
  }

  private static void warnUnlessRecording(SparkContext context) {
    String key = RecordingFileSystem.IMPLEMENTATION_KEY;
    String expected = RecordingFileSystem.class.getName();
    String actual = context.hadoopConfiguration().get(key);
    if (!expected.equals(actual)) {
      LOG.warn(
          "spark.hadoop.{} is {}, not {}: the timeline will have no reads", key, actual, expected);
    }
  }

  /** Called when the application has its id, before any job. */
  @Override
  public void registerMetrics(String application, PluginContext plugin) {
    if (writer != null) {
      writer.begin(Lines.header(application, name));
    }
  }

  @Override
  public Object receive(Object message) {
    if (writer != null && message instanceof String text) {
      accept(ReadBatch.decode(text));
    }
    return null;
  }

  private void accept(ReadBatch batch) {
    boolean written = batch.reads() == 0 || writer.write(batch.lines());
    dropped.addAndGet(batch.dropped() + (written ? 0 : batch.reads()));
    ledger.told(batch.executor(), batch.tasks());
  }

  /** Spark calls it before or after it empties its listeners' queues, and while messages arrive. */
  @Override
  public void shutdown() {
    if (writer == null) {
      return;
    }
    try {
      if (writer.hasBegun() && !ledger.await(END_MS)) {
        LOG.warn(
            "the timeline may lack the last reads of executors that did not send them in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (own != null) {
      own.close();
    }
    writer.close(dropped.get() == 0 ? "" : Lines.dropped(dropped.get()));
  }
}
