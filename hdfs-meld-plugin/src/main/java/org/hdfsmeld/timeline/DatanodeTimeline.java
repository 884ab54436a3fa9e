package org.hdfsmeld.timeline;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.record.RecordFiles;
import org.hdfsmeld.record.RecordKind;
import org.hdfsmeld.record.RecordRing;
import org.hdfsmeld.record.Recording;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A DataNode's timeline: on demand, the latest of what its readers and its devices do.
 *
 * <pre>
 *   readers --record--> RecordRing --stop--> meld-timeline-*.jsonl.gz
 *   devices --the simulator--> a ring --stop--> meld-timeline-*-N.records
 * </pre>
 *
 * <p>Memory is 16 MiB, and 64 MiB for each device, while one is recorded; files are no larger.
 * Nobody waits for it. A reader costs one volatile read otherwise.
 */
public final class DatanodeTimeline implements Recording, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DatanodeTimeline.class);
  private static final int RECORDS = 1 << 18;
  private static final long DEVICE_BYTES = 64 << 20;

  private final RecordFiles folder;
  private final int maxFiles;
  private final Supplier<? extends List<? extends TimelineDevice>> devices;
  private final AtomicLong readers = new AtomicLong();

  private volatile Session session;
  private long lastRecords;
  private long lastLost;

  record Session(String name, long beginNs, long zeroNs, RecordRing records, Strings strings) {}

  /**
   * No timeline yet; nothing is allocated or created before {@link #start}. Its files lie beside
   * those of the DataNode's block traces.
   */
  public DatanodeTimeline(
      TraceConfiguration config,
      String dataNodeUuid,
      Supplier<? extends List<? extends TimelineDevice>> devices) {
    this.folder = new RecordFiles(config.folder(dataNodeUuid), RecordKind.TIMELINE);
    this.maxFiles = config.maxFiles();
    this.devices = devices;
  }

  /** Whether records go anywhere; before work that only they need. */
  @Override
  public boolean isRecording() {
    return session != null;
  }

  public ReaderTimeline reader(int volume) {
    return new ReaderTimeline(this, volume);
  }

  /** A number for a reader, which no other has. */
  long newReader() {
    return readers.incrementAndGet();
  }

  /** What is being recorded; null when nothing is. */
  Session session() {
    return session;
  }

  @Override
  public synchronized void start() {
    if (session != null) {
      throw new IllegalStateException("A timeline is being recorded; stop it first");
    }
    String name;
    try {
      folder.make();
      name = folder.session(Instant.now());
    } catch (IOException e) {
      throw new IllegalStateException("No file can be made in " + folder.path() + ": " + e, e);
    }
    long beginNs = System.nanoTime();
    long zeroNs = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - beginNs;
    devices.get().forEach(device -> device.startTimeline(DEVICE_BYTES));
    session = new Session(name, beginNs, zeroNs, RecordRing.ofLatest(RECORDS), new Strings());
    LOG.info("Recording a timeline for {}", folder.path());
  }

  @Override
  public synchronized void stop() {
    Session ended = session;
    if (ended == null) {
      return;
    }
    session = null;
    String name = ended.name;
    List<? extends TimelineDevice> present = devices.get();
    try (TimelineFile file =
        new TimelineFile(new GZIPOutputStream(folder.create(name + ".jsonl.gz")), ended.zeroNs)) {
      file.header(folder.path().getFileName().toString(), ended.beginNs);
      for (int i = 0; i < present.size(); i++) {
        String records = name + "-" + i + ".records";
        file.device(i, present.get(i), present.get(i).stopTimeline(folder.path().resolve(records)));
      }
      lastRecords = file.records(ended.records, ended.strings);
      lastLost = ended.records.dropped();
    } catch (IOException e) {
      throw new IllegalStateException("No file can be made in " + folder.path() + ": " + e, e);
    }
    try {
      // Never those of this one.
      folder.keep(Math.max(maxFiles, present.size() + 1));
    } catch (IOException e) {
      LOG.warn("Old timelines in {} stay", folder.path(), e);
    }
    LOG.info("Recorded a timeline of {} records in {}", lastRecords, folder.path());
  }

  @Override
  public synchronized long getRecords() {
    return lastRecords;
  }

  /** Those that had to make room for later ones. */
  @Override
  public synchronized long getDroppedRecords() {
    return lastLost;
  }

  @Override
  public String getFolder() {
    return folder.path().toString();
  }

  public RecordFiles files() {
    return folder;
  }

  /** What was recorded is dropped. */
  @Override
  public void close() {
    session = null;
  }
}
