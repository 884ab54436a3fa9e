package org.hdfsmeld.sim;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.VolumeBinding;
import org.hdfsmeld.datanode.device.SharedDevice;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.timeline.DatanodeTimeline;
import org.hdfsmeld.trace.BlockTrace;

/** A device that writes down what it is asked. 4 KiB blocks and pages, wordlines of three pages. */
public class FakeDevice implements SimDevice {
  public static final int PAGE = 4 << 10;
  public static final int WORDLINE = 3 * PAGE;

  private static final long POLL_NS = 1_000_000;

  public record Command(int opcode, long offset, long length, int directive, boolean detached) {}

  private final List<Command> commands = new ArrayList<>();
  private final List<Command> preloads = new ArrayList<>();
  private final Set<Long> open = new HashSet<>();
  private final Set<Long> inRing = new LinkedHashSet<>();
  public final List<Boolean> modes = new ArrayList<>();

  /** Returns when the device has got all that it was given. */
  public volatile Runnable drain = () -> {};

  /** What the next calls return instead of success; 0 for success. */
  public volatile int status;

  /** Whether waits run into their timeout, in no time. */
  public volatile boolean stuck;

  /** Whether there is no room for commands. */
  public volatile boolean full;

  /** What happens just before a command is taken. */
  public volatile Runnable before = () -> {};

  /** What the next calls throw; null for nothing. */
  public volatile RuntimeException thrown;

  /** Its counters; each counts its own place, but for those of {@link #statValues}. */
  public List<String> statNames = SimStats.NAMES;

  public final Map<String, Long> statValues = new ConcurrentHashMap<>();

  public volatile boolean closed;
  private long tickets;
  private CommandRing ring;
  private LibrarySide side;
  private boolean realTime;

  /** What was put in is done, and counted in what is published. */
  public static void settle(MeldVolume volume) {
    if (volume.device().namespace() != null) {
      volume.device().layout(0, 1, new long[3]);
    }
  }

  /** What a volume counts, all of what was put in. */
  public static Map<String, Long> counters(MeldVolume volume) {
    settle(volume);
    return volume.getCounters();
  }

  /**
   * A volume on this device.
   *
   * @param mode as in {@link MeldKeys#MODE}
   * @param settings further keys and their values, in turn
   */
  public MeldVolume volume(String mode, HintSource hints, String... settings) {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.MODE, mode);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    try {
      MeldConfiguration config = MeldConfiguration.read(conf);
      File current = new File("/data/1/current");
      MeldVolume volume = alone("DS-1", current, config, () -> this, hints);
      volume.change(config.mode(), config.timeDilation());
      drain = () -> settle(volume);
      return volume;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Volumes whose I/O is not recorded, on devices of this opener. */
  public static MeldVolumes volumes(MeldConfiguration config, SimDeviceOpener opener) {
    return volumes(config, profile -> opener, HintSource.NONE);
  }

  /** Volumes whose I/O is not recorded. */
  public static MeldVolumes volumes(
      MeldConfiguration config, Function<String, SimDeviceOpener> openers, HintSource hints) {
    return new MeldVolumes(config, openers, hints, new BlockTrace(config.trace(), "none"));
  }

  /** A volume with a device of its own, whose I/O is not recorded. */
  public static MeldVolume alone(
      String storageId,
      File current,
      MeldConfiguration config,
      SimDeviceOpener opener,
      HintSource hints) {
    MeldVolume.Shared shared =
        new MeldVolume.Shared(
            config,
            hints,
            new SimFailures(),
            new BlockTrace(config.trace(), "none"),
            new DatanodeTimeline(config.trace(), "none", List::of));
    VolumeBinding own = config.devices().of(current.getParentFile());
    SharedDevice device =
        new SharedDevice(current.getParent(), own, config, opener, shared.failures());
    return new MeldVolume(storageId, current, device, shared);
  }

  /** What it was asked, but for preloads. */
  public List<Command> commands() {
    drain.run();
    synchronized (this) {
      return List.copyOf(commands);
    }
  }

  /** How many commands it was asked so far. */
  public synchronized int taken() {
    return commands.size();
  }

  /** What was preloaded. */
  public List<Command> preloads() {
    drain.run();
    synchronized (this) {
      return List.copyOf(preloads);
    }
  }

  /** Tickets that were neither waited for, reaped nor forgotten. */
  public Set<Long> open() {
    drain.run();
    synchronized (this) {
      Set<Long> all = new HashSet<>(open);
      inRing.stream().filter(ticket -> ring.isPending(ticket)).forEach(all::add);
      return all;
    }
  }

  /** Forgets what it was asked. */
  public void clear() {
    drain.run();
    synchronized (this) {
      commands.clear();
      preloads.clear();
    }
  }

  /** From now on, but not for what was asked before, calls return this. */
  public void fail(int newStatus) {
    drain.run();
    status = newStatus;
  }

  /** What never comes back, for {@link #before}, until it is let go. */
  public static Runnable hang(CountDownLatch until) {
    return () -> {
      try {
        until.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
  }

  private void check() {
    if (thrown != null) {
      throw thrown;
    }
  }

  @Override
  public NamespaceInfo createNamespace(long sizeBytes) {
    return new NamespaceInfo(1, PAGE, sizeBytes / PAGE, PAGE, WORDLINE, 1L << 37, 0);
  }

  @Override
  public NamespaceInfo createNamespaceIn(int set, long sizeBytes) throws SimException {
    return createNamespace(sizeBytes);
  }

  @Override
  public int sets() {
    return 1;
  }

  @Override
  public List<NamespaceInfo> namespaces() {
    return List.of(createNamespace(1L << 40));
  }

  @Override
  public synchronized long submit(
      int opcode, int nsid, long slba, int nlb, int directive, boolean detached) {
    check();
    if (status < 0) {
      return status;
    }
    if (full) {
      return SimStatus.TIMEOUT;
    }
    before.run();
    commands.add(
        new Command(opcode, slba * PAGE, Integer.toUnsignedLong(nlb) * PAGE, directive, detached));
    if (detached) {
      return 0;
    }
    open.add(++tickets);
    return tickets;
  }

  @Override
  public void attach(CommandRing attached) {
    ring = attached;
    side = new LibrarySide(attached);
  }

  /** As the library does it, but that a failure is posted alone. */
  @Override
  public synchronized long runRing(long spinNs, long longestNs) {
    check();
    side.full(false);
    while (ring.isReady()) {
      if (full && realTime) {
        side.full(true);
        return POLL_NS;
      }
      long ticket = ring.taken() + 1;
      ByteBuffer entry = side.next();
      long outcome = perform(ticket, entry);
      ring.skip();
      if (outcome < 0) {
        side.post(ring.opcode(ticket) == CommandRing.WAIT ? entry.getLong(48) : ticket, outcome);
        return 0;
      }
    }
    return complete();
  }

  private long perform(long ticket, ByteBuffer entry) {
    int nsid = entry.getInt(8);
    int nlb = entry.getInt(12);
    long slba = entry.getLong(16);
    int directive = entry.getInt(24);
    switch (entry.getInt(4)) {
      case CommandRing.WAIT -> {
        long awaited = entry.getLong(48);
        if (ring.isPending(awaited) && !realTime && status < 0) {
          return status;
        }
        ring.end(awaited);
        return 0;
      }
      case CommandRing.PRELOAD -> {
        return preload(nsid, slba, nlb, directive);
      }
      default -> {
        boolean detached = entry.getLong(40) != 0;
        long outcome = submit(entry.getInt(4), nsid, slba, nlb, directive, detached);
        open.remove(outcome);
        if (detached && !realTime) {
          ring.end(ticket);
        } else if (outcome >= 0) {
          inRing.add(ticket);
        }
        return outcome;
      }
    }
  }

  /** In real-time mode each open command is done, or fails. */
  private long complete() {
    if (!realTime) {
      return CommandRing.NEVER;
    }
    while (!inRing.isEmpty() && (status < 0 || !stuck)) {
      long ticket = inRing.iterator().next();
      inRing.remove(ticket);
      if (status < 0) {
        side.post(ticket, status);
        return 0;
      }
      if (side.complete(ticket) && !side.post(ticket, 1)) {
        throw new IllegalStateException("more sleep than can be posted");
      }
    }
    side.due(inRing.isEmpty() ? CommandRing.NEVER : System.nanoTime() + POLL_NS);
    return inRing.isEmpty() ? CommandRing.NEVER : POLL_NS;
  }

  @Override
  public synchronized long await(long ticket, long timeoutNs) {
    check();
    if (status < 0) {
      return status;
    }
    if (stuck) {
      return SimStatus.TIMEOUT;
    }
    return open.remove(ticket) ? 1 : SimStatus.TICKET;
  }

  @Override
  public synchronized int preload(int nsid, long slba, long nlb, int directive) {
    check();
    if (status < 0) {
      return status;
    }
    before.run();
    preloads.add(new Command(-1, slba * PAGE, nlb * PAGE, directive, true));
    return SimStatus.OK;
  }

  @Override
  public int layout(int nsid, long slba, long nlb, long[] out) {
    check();
    out[0] = nlb;
    out[1] = 0;
    out[2] = nlb / 2;
    return SimStatus.OK;
  }

  @Override
  public void precondition(String past) throws SimException {}

  @Override
  public String profile() {
    return "name = \"fake\"";
  }

  @Override
  public long snapshot(ByteBuffer out) {
    check();
    out.put(0, (byte) 42);
    return 1;
  }

  @Override
  public int setMode(boolean isRealTime, double timeDilation) {
    modes.add(isRealTime);
    if (!realTime || !isRealTime) {
      inRing.removeIf(ticket -> !side.complete(ticket) || side.post(ticket, 1));
    }
    realTime = isRealTime;
    return status;
  }

  @Override
  public List<String> statNames() {
    return statNames;
  }

  @Override
  public int stats(long[] out) {
    for (int i = 0; i < out.length; i++) {
      out[i] = statValues.getOrDefault(statNames.get(i), (long) i);
    }
    return statNames.size();
  }

  @Override
  public List<String> namespaceStatNames() {
    return List.of("host_read_bytes", "mapped_pages", "melded_mapped_pages");
  }

  /** Counts by the namespace's number: so many hundreds, of which two pages in three are melded. */
  @Override
  public int namespaceStats(int nsid, long[] out) {
    long[] counts = {nsid * 100L, nsid * 300L, nsid * 200L};
    System.arraycopy(counts, 0, out, 0, out.length);
    return counts.length;
  }

  @Override
  public long latencyPs(int opcode, double quantile) {
    return status < 0 ? status : (long) (quantile * 1000) * (opcode == Opcode.READ ? 1 : 2);
  }

  @Override
  public int startTimeline(long bytes) {
    return SimStatus.ARGUMENT;
  }

  @Override
  public long stopTimeline(String file) {
    return 0;
  }

  @Override
  public String lastError() {
    return "the fake's error";
  }

  @Override
  public void close() {
    closed = true;
  }
}
