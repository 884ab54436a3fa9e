package org.hdfsmeld.sim;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongBiFunction;

/** A device of libmeldsim. */
public final class NativeSimDevice implements SimDevice {
  /** Of meldsim_namespace: its size, the set, then 64 bits each; five of them are read. */
  private static final int NAMESPACE_BYTES = 48;

  /** Of meldsim_page_counts: its size, a reserved field, then 64 bits each. */
  private static final int PAGE_COUNTS = 3;

  private static final int PAGE_COUNTS_BYTES = 8 + 8 * PAGE_COUNTS;

  private static final int FIRST_LONG = 8;

  private static final int FDP_BYTES = 64;
  private static final int HANDLES_AT = 4;

  private final long handle;
  private CommandRing attached;

  private NativeSimDevice(long handle) {
    this.handle = handle;
  }

  /**
   * Loads the library if that has not happened yet, and opens a device in account mode.
   *
   * @param library path of the library, or empty for the packed one; see {@link NativeLoader#load}
   * @param profile built-in profile or path of a TOML file
   * @throws SimException when the library cannot be loaded or refuses the profile ({@link
   *     SimException#status} is then {@link SimStatus#PROFILE})
   */
  public static NativeSimDevice open(String library, String profile) throws SimException {
    NativeLoader.load(library);
    long[] handle = new long[1];
    return opened(
        LibMeldsim.meldsim_open(LibMeldsim.ABI_VERSION, cString(profile), handle), handle);
  }

  /**
   * Opens a device in account mode in the state of a snapshot, as after the power has come back:
   * its time and its counters begin anew, its namespaces keep their identifiers.
   *
   * @param library as of {@link #open}
   * @param snapshot the bytes of {@link #snapshot}, of this or another process; a direct buffer
   * @throws SimException when the library cannot be loaded or refuses the snapshot ({@link
   *     SimException#status} is then {@link SimStatus#SNAPSHOT})
   */
  public static NativeSimDevice restore(String library, ByteBuffer snapshot) throws SimException {
    NativeLoader.load(library);
    long[] handle = new long[1];
    return opened(
        LibMeldsim.meldsim_restore(LibMeldsim.ABI_VERSION, snapshot, snapshot.limit(), handle),
        handle);
  }

  private static NativeSimDevice opened(int status, long[] handle) throws SimException {
    NativeSimDevice device = new NativeSimDevice(handle[0]);
    device.checked(status);
    return device;
  }

  @Override
  public NamespaceInfo createNamespace(long sizeBytes) throws SimException {
    int[] nsid = new int[1];
    checked(LibMeldsim.meldsim_namespace_create(handle, sizeBytes, nsid));
    return describe(nsid[0]);
  }

  @Override
  public NamespaceInfo createNamespaceIn(int set, long sizeBytes) throws SimException {
    int[] nsid = new int[1];
    checked(LibMeldsim.meldsim_namespace_create_in(handle, set, sizeBytes, nsid));
    return describe(nsid[0]);
  }

  @Override
  public int sets() throws SimException {
    return (int) checked(LibMeldsim.meldsim_sets(handle));
  }

  /**
   * Flexible data placement of an NVM set.
   *
   * @throws SimException there is no such set, or the device has no reclaim unit handles
   */
  public FdpInfo fdp(int set) throws SimException {
    ByteBuffer info = struct(FDP_BYTES);
    checked(LibMeldsim.meldsim_fdp_info(handle, set, info.array()));
    info.position(FIRST_LONG);
    return new FdpInfo(
        info.getInt(HANDLES_AT),
        info.getLong(),
        info.getLong(),
        info.getLong(),
        info.getLong(),
        info.getLong(),
        info.getLong(),
        info.getLong());
  }

  @Override
  public List<NamespaceInfo> namespaces() throws SimException {
    int count = (int) checked(LibMeldsim.meldsim_namespaces(handle));
    List<NamespaceInfo> namespaces = new ArrayList<>(count);
    for (int nsid = 1; nsid <= count; nsid++) {
      namespaces.add(describe(nsid));
    }
    return List.copyOf(namespaces);
  }

  private NamespaceInfo describe(int nsid) throws SimException {
    ByteBuffer info = struct(NAMESPACE_BYTES);
    checked(LibMeldsim.meldsim_namespace_info(handle, nsid, info.array()));
    info.position(FIRST_LONG);
    return new NamespaceInfo(
        nsid,
        info.getLong(),
        info.getLong(),
        info.getLong(),
        info.getLong(),
        info.getLong(),
        // Below 0 where the device has none.
        Math.max(0, LibMeldsim.meldsim_handles(handle, nsid, null, 0)));
  }

  @Override
  public long submit(int opcode, int nsid, long slba, int nlb, int directive, boolean detached) {
    int flags = LibMeldsim.FLAG_NO_WAIT | (detached ? LibMeldsim.FLAG_DETACHED : 0);
    return LibMeldsim.meldsim_submit(handle, opcode, nsid, slba, nlb, directive, flags);
  }

  @Override
  public void attach(CommandRing ring) throws SimException {
    long address = Pointer.nativeValue(Native.getDirectBufferPointer(ring.memory()));
    checked(
        LibMeldsim.meldsim_ring_attach(handle, address, CommandRing.ENTRIES, CommandRing.SLOTS));
    attached = ring;
  }

  @Override
  public long runRing(long spinNs, long longestNs) {
    try {
      return LibMeldsim.meldsim_ring_run(handle, System.nanoTime(), spinNs, longestNs);
    } finally {
      // The library writes there.
      Reference.reachabilityFence(attached);
    }
  }

  @Override
  public long await(long ticket, long timeoutNs) {
    return LibMeldsim.meldsim_wait(handle, ticket, timeoutNs);
  }

  @Override
  public int preload(int nsid, long slba, long nlb, int directive) {
    return LibMeldsim.meldsim_preload(handle, nsid, slba, nlb, directive);
  }

  @Override
  public int layout(int nsid, long slba, long nlb, long[] out) {
    ByteBuffer counts = struct(PAGE_COUNTS_BYTES);
    int status = LibMeldsim.meldsim_layout(handle, nsid, slba, nlb, counts.array());
    if (status >= 0) {
      counts.position(FIRST_LONG);
      counts.asLongBuffer().get(out, 0, PAGE_COUNTS);
    }
    return status;
  }

  @Override
  public void precondition(String past) throws SimException {
    checked(LibMeldsim.meldsim_precondition_by(handle, cString(past)));
  }

  @Override
  public String profile() throws SimException {
    checked(LibMeldsim.meldsim_profile(handle, null, 0));
    return text((buf, len) -> LibMeldsim.meldsim_profile(handle, buf, len));
  }

  @Override
  public long snapshot(ByteBuffer out) throws SimException {
    return checked(LibMeldsim.meldsim_snapshot(handle, out, out.capacity()));
  }

  @Override
  public int setMode(boolean realTime, double timeDilation) {
    return LibMeldsim.meldsim_set_mode(handle, realTime ? 1 : 0, timeDilation);
  }

  @Override
  public List<String> statNames() {
    return SimStats.ofLibrary(LibMeldsim::meldsim_stats_name);
  }

  @Override
  public int stats(long[] out) {
    return LibMeldsim.meldsim_stats(handle, out, out.length);
  }

  @Override
  public List<String> namespaceStatNames() {
    return SimStats.ofLibrary(LibMeldsim::meldsim_namespace_stats_name);
  }

  @Override
  public int namespaceStats(int nsid, long[] out) {
    return LibMeldsim.meldsim_namespace_stats(handle, nsid, out, out.length);
  }

  @Override
  public long latencyPs(int opcode, double quantile) {
    return LibMeldsim.meldsim_latency(handle, opcode, quantile);
  }

  @Override
  public int startTimeline(long bytes) {
    return LibMeldsim.meldsim_timeline_start(handle, bytes);
  }

  @Override
  public long stopTimeline(String file) {
    return LibMeldsim.meldsim_timeline_stop(handle, cString(file), null);
  }

  @Override
  public String lastError() {
    return text(LibMeldsim::meldsim_last_error);
  }

  @Override
  public void close() {
    // A handle that is closed stays one that is closed.
    LibMeldsim.meldsim_close(handle);
  }

  /** A struct of the C ABI, which begins with its size. The library fills it as far as it goes. */
  private static ByteBuffer struct(int bytes) {
    return ByteBuffer.wrap(new byte[bytes]).order(ByteOrder.nativeOrder()).putInt(0, bytes);
  }

  /** What a function copies as far as there is room, returning the bytes that all of it needs. */
  static String text(ToLongBiFunction<byte[], Long> copy) {
    byte[] text = new byte[Math.max(Math.toIntExact(copy.applyAsLong(null, 0L)), 1)];
    int bytes = Math.toIntExact(copy.applyAsLong(text, (long) text.length));
    return new String(text, 0, bytes - 1, StandardCharsets.UTF_8);
  }

  static byte[] cString(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return Arrays.copyOf(bytes, bytes.length + 1);
  }
}
