package org.hdfsmeld.trace;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.com.google.common.hash.HashFunction;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hashing;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.record.RecordFiles;
import org.hdfsmeld.record.RecordKind;
import org.hdfsmeld.record.RecordRing;
import org.hdfsmeld.record.Recording;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A DataNode's block trace: on demand, what its volumes' devices are asked, record by record, in
 * compressed files that {@code meldsim} replays.
 *
 * <pre>
 *   I/O threads --record--> RecordRing --TraceWriter--> RotatedOutput --> meld-trace-*.csv.gz
 * </pre>
 *
 * <p>Recording never makes anybody wait: what finds the ring full is dropped and counted. Memory is
 * 64 bytes for each record of the ring, while a trace is recorded.
 */
public final class BlockTrace implements Recording, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockTrace.class);

  /** The writer has at most the ring to write down, and the disk may be slow. */
  private static final long STOP_MS = 60_000;

  /** Names and heads the files; it may jump. The times of records are not its. */
  private final InstantSource clock;

  private final TraceConfiguration config;
  private final RecordFiles files;
  private final List<VolumeTrace> volumes = new CopyOnWriteArrayList<>();

  /** Of the present trace, or the last one: what is asked for by JMX waits for no start or stop. */
  private record Session(TraceWriter writer, RecordRing ring, Thread thread) {}

  private volatile RecordRing ring;
  private volatile Session session;

  /** No trace yet; nothing is allocated or created before {@link #start}. */
  public BlockTrace(TraceConfiguration config, String dataNodeUuid) {
    this(config, dataNodeUuid, InstantSource.system());
  }

  BlockTrace(TraceConfiguration config, String dataNodeUuid, InstantSource clock) {
    this.config = config;
    this.files = new RecordFiles(config.folder(dataNodeUuid), RecordKind.TRACE);
    this.clock = clock;
  }

  /**
   * Where the I/O of a volume is recorded.
   *
   * @param state what a reader of the trace should know of the volume, without naming it
   */
  public synchronized VolumeTrace volume(String storageId, Supplier<String> state) {
    int number = 0;
    while (number < volumes.size() && !volumes.get(number).storageId.equals(storageId)) {
      number++;
    }
    VolumeTrace volume = new VolumeTrace(number, storageId, state);
    if (number < volumes.size()) {
      volumes.set(number, volume);
    } else {
      volumes.add(volume);
    }
    return volume;
  }

  /**
   * Where a volume's block I/O is recorded, while a trace is. Costs one volatile read otherwise.
   */
  public final class VolumeTrace {
    private final int number;
    private final String storageId;
    private volatile Supplier<String> state;

    private VolumeTrace(int number, String storageId, Supplier<String> state) {
      this.number = number;
      this.storageId = storageId;
      this.state = state;
    }

    /** Whether records go anywhere; before work that only they need. */
    public boolean isRecording() {
      return ring != null;
    }

    /**
     * The volume has left the DataNode: the headers of later traces do not mention it. Its number
     * stays its own, should it come back.
     */
    public void left() {
      state = null;
    }

    /**
     * Records an I/O that the device took just now. Never blocks, never throws, allocates nothing.
     *
     * @param directory inode of the directory of its file, 0 when that is not known
     * @param offset first byte in the block; the new length with {@link TraceOp#TRUNCATE}
     * @param length bytes; 0 with operations on the whole block
     * @param pattern how the block is said to be read
     */
    public void record(
        TraceOp op,
        BlockKey block,
        long directory,
        long offset,
        int length,
        ReadPattern pattern,
        ClientKind client) {
      RecordRing recorded = ring;
      if (recorded != null) {
        long kind = TraceWriter.kind(number, op, pattern, client);
        int pool = block.pool().hashCode();
        long now = System.nanoTime();
        recorded.add(now, block.id(), offset, length, kind, directory, pool);
      }
    }
  }

  /** Tells the DataNode from others: its uuid. */
  public String name() {
    return files.path().getFileName().toString();
  }

  @Override
  public synchronized void start() {
    if (isRecording()) {
      throw new IllegalStateException("A trace is being recorded; stop it first");
    }
    stop();
    SecureRandom random = new SecureRandom();
    HashFunction hash = Hashing.sipHash24(random.nextLong(), random.nextLong());
    Instant now = clock.instant();
    RotatedOutput output;
    try {
      output = new RotatedOutput(files, config, now, header(now, hash));
    } catch (IOException e) {
      throw new IllegalStateException("No trace file can be made in " + files.path() + ": " + e);
    }
    RecordRing fresh = RecordRing.ofFirst(config.bufferRecords());
    TraceWriter writer =
        new TraceWriter(
            fresh, output, hash, config.inodes(), i -> volumes.get(i).storageId, System.nanoTime());
    Thread thread = new Thread(writer, "MeldTraceWriter");
    thread.setDaemon(true);
    thread.start();
    session = new Session(writer, fresh, thread);
    ring = fresh;
    LOG.info("Recording a block trace in {}", files.path());
  }

  @Override
  public synchronized void stop() {
    if (ring == null) {
      return;
    }
    ring = null;
    session.ring.close();
    try {
      session.thread.join(STOP_MS);
      if (session.thread.isAlive()) {
        LOG.warn("The trace in {} is still being written", files.path());
      }
    } catch (InterruptedException e) {
      // The files are finished without us.
      Thread.currentThread().interrupt();
    }
    LOG.info("Recorded {} block I/Os, dropped {}", getRecords(), getDroppedRecords());
  }

  private String header(Instant now, HashFunction hash) {
    StringBuilder text =
        new StringBuilder("# meld-trace 3\n# Recorded by hdfs-meld from ")
            .append(now)
            .append(config.inodes() ? ". Volumes and blocks" : ". Volumes, blocks and directories")
            .append(" are hashes with a key that nobody has.\n");
    for (VolumeTrace volume : volumes) {
      Supplier<String> state = volume.state;
      if (state != null) {
        text.append("# volume ")
            .append(TraceWriter.volumeName(hash, volume.storageId))
            .append(": ")
            .append(state.get())
            .append('\n');
      }
    }
    return text.append("time_ns,volume,block,offset,length,op,pattern,client,directory\n")
        .toString();
  }

  @Override
  public boolean isRecording() {
    return ring != null && session.writer.failure() == null;
  }

  @Override
  public long getRecords() {
    Session last = session;
    return last == null ? 0 : last.writer.written();
  }

  @Override
  public long getDroppedRecords() {
    Session last = session;
    return last == null ? 0 : last.ring.dropped() + last.writer.lost();
  }

  @Override
  public String getLastError() {
    Session last = session;
    Throwable failure = last == null ? null : last.writer.failure();
    return failure == null ? "" : failure.toString();
  }

  @Override
  public String getFolder() {
    return files.path().toString();
  }

  public RecordFiles files() {
    return files;
  }

  @Override
  public void close() {
    stop();
  }
}
