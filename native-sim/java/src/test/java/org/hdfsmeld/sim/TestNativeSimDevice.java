package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.jna.NativeLibrary;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The binding against the real library. */
class TestNativeSimDevice {
  private static final long SECOND_NS = 1_000_000_000;
  private static final int BLOCKS = 30;

  @TempDir Path dir;

  private SimDevice device;
  private NamespaceInfo namespace;

  @BeforeEach
  void open() throws SimException {
    device = NativeSimDevice.open("", "melded-tlc-8x8");
    namespace = device.createNamespace(1L << 47);
  }

  @AfterEach
  void close() {
    device.close();
  }

  private long read(boolean detached) {
    return device.submit(Opcode.READ, namespace.nsid(), 0, BLOCKS, Directive.NONE, detached);
  }

  private long stat(String name) {
    List<String> names = device.statNames();
    long[] stats = new long[names.size()];
    assertThat(device.stats(stats)).isEqualTo(names.size());
    return stats[names.indexOf(name)];
  }

  @Test
  void runsOnTheJnaItIsMeantTo() {
    // From the jar, for the compiler would put the constant it was compiled with.
    String version = com.sun.jna.Native.class.getPackage().getImplementationVersion();
    assertThat(version).startsWith(System.getProperty("meld.test.jna", version));
  }

  @Test
  void placesDataByHandles() throws Exception {
    Path profile = dir.resolve("handles.toml");
    Files.writeString(profile, "base = \"melded-tlc-8x8\"\n[fdp]\nhandles = 2\n");
    try (NativeSimDevice handles = NativeSimDevice.open("", profile.toString())) {
      int nsid = handles.createNamespace(1L << 30).nsid();
      for (int pid = 0; pid < 3; pid++) {
        long ticket =
            handles.submit(Opcode.WRITE, nsid, 0, BLOCKS, Directive.placement(pid), false);
        assertThat(handles.await(ticket, SECOND_NS)).isPositive();
      }
      FdpInfo info = handles.fdp(0);
      long unit = info.reclaimUnitBytes();
      assertThat(info).isEqualTo(new FdpInfo(2, unit, 3L * BLOCKS * 4096, 0, 0, 0, 1, 0));
    }
    assertThatThrownBy(() -> ((NativeSimDevice) device).fdp(0))
        .isInstanceOf(SimException.class)
        .hasMessageContaining("has no reclaim unit handles");
  }

  @Test
  void describesItsNamespace() {
    assertThat(namespace)
        .isEqualTo(
            new NamespaceInfo(
                namespace.nsid(), 4096, 1L << 35, 4096, 12288, namespace.capacityBytes(), 0));
    assertThat(namespace.capacityBytes()).isGreaterThan(100L << 30);
    assertThat(stat("channels")).isEqualTo(8);
    assertThat(stat("dies")).isEqualTo(64);
  }

  @Test
  void hasTheCountersThatThePluginShowsBeforeItIsOpen() {
    assertThat(device.statNames()).containsAll(SimStats.NAMES).doesNotHaveDuplicates();
  }

  @Test
  void namespacesCanBeInNvmSetsOfTheirOwn() throws Exception {
    assertThat(device.sets()).isEqualTo(1);
    SimException e =
        catchThrowableOfType(SimException.class, () -> device.createNamespaceIn(1, 1L << 30));
    assertThat(e.status()).isEqualTo(SimStatus.ARGUMENT);
    Path preset = Path.of("model/meldsim/profiles/melded-tlc-8x8.toml");
    Path file = dir.resolve("sets.toml");
    Files.writeString(
        file, Files.readString(preset) + "\n[sets]\nlayout = \"vertical\"\ncount = 4\n");
    try (SimDevice divided = NativeSimDevice.open("", file.toString())) {
      assertThat(divided.sets()).isEqualTo(4);
      assertThat(divided.createNamespaceIn(3, 1L << 30).nsid()).isEqualTo(1);
    }
  }

  @Test
  void meldedDataIsReadMelded() {
    int directive = Directive.sequential(16 << 20);
    assertThat(device.preload(namespace.nsid(), 0, BLOCKS, directive)).isEqualTo(SimStatus.OK);
    long ticket = read(false);
    assertThat(ticket).isPositive();
    assertThat(device.await(ticket, SECOND_NS)).isGreaterThan(166_000_000);
    assertThat(stat("melded_reads")).isEqualTo(BLOCKS / 3);
    assertThat(stat("read_commands")).isEqualTo(1);
  }

  /** Puts a command into the ring. */
  private static long put(CommandRing ring, int opcode, int nsid, long slba, int nlb) {
    long at = ring.claim();
    ring.publish(at, opcode, nsid, slba, nlb, Directive.NONE, false);
    return at + 1;
  }

  private static void await(CommandRing ring, long ticket) {
    ring.publish(ring.claim(), CommandRing.WAIT, 0, ticket, 0, 0, true);
  }

  @Test
  void aRingTakesManyCommandsInOneCall() throws SimException {
    CommandRing ring = new CommandRing();
    device.attach(ring);
    assertThat(put(ring, CommandRing.PRELOAD, namespace.nsid(), 0, BLOCKS)).isEqualTo(1);
    long last = 0;
    for (int i = 0; i < 3; i++) {
      last = put(ring, Opcode.READ, namespace.nsid(), i * 10L, 10);
    }
    await(ring, last);
    assertThat(ring.isPending(last)).isTrue();
    assertThat(device.runRing(0, SECOND_NS)).isEqualTo(CommandRing.NEVER);
    assertThat(ring.isPending(last)).isFalse();
    assertThat(ring.taken()).isEqualTo(5);
    assertThat(ring.takePosted()).isZero();
    assertThat(stat("page_reads")).isEqualTo(30);
  }

  @Test
  void aRingPostsWhatFails() throws SimException {
    CommandRing ring = new CommandRing();
    device.attach(ring);
    long refused = put(ring, Opcode.READ, namespace.nsid() + 1, 7, 1);
    assertThat(device.runRing(0, SECOND_NS)).isZero();
    assertThat(device.lastError()).isNotBlank();
    assertThat(ring.takePosted()).isEqualTo(1);
    assertThat(ring.postedTicket(0)).isEqualTo(refused);
    assertThat(ring.outcome(0)).isEqualTo(SimStatus.NAMESPACE);
    assertThat(ring.opcode(refused)).isEqualTo(Opcode.READ);
    assertThat(ring.slba(refused)).isEqualTo(7);
    assertThat(ring.isPending(refused)).isTrue();
    ring.end(refused);
    assertThat(ring.isPending(refused)).isFalse();
  }

  @Test
  void inRealTimeARingSaysWhenThereIsMoreToDo() throws SimException {
    CommandRing ring = new CommandRing();
    device.attach(ring);
    device.preload(namespace.nsid(), 0, BLOCKS, Directive.NONE);
    assertThat(device.setMode(true, 1)).isEqualTo(SimStatus.OK);
    long ticket = put(ring, Opcode.READ, namespace.nsid(), 0, 1);
    long begin = System.nanoTime();
    assertThat(device.runRing(0, SECOND_NS)).isBetween(1L, SECOND_NS);
    assertThat(ring.dueNs()).isBetween(begin, begin + SECOND_NS);
    while (ring.isPending(ticket)) {
      assertThat(device.runRing(1_000_000, 1_000_000)).isNotNegative();
    }
  }

  /** Writes a MiB with a hint, flushes, and says how many pages of it lie melded. */
  private long meldedPages(int directive) throws SimException {
    CommandRing ring = new CommandRing();
    device.attach(ring);
    ring.publish(ring.claim(), Opcode.WRITE, namespace.nsid(), 0, 256, directive, true);
    await(ring, put(ring, Opcode.FLUSH, namespace.nsid(), 0, 0));
    assertThat(device.runRing(0, SECOND_NS)).isEqualTo(CommandRing.NEVER);
    return stat("melded_mapped_pages");
  }

  @Test
  void aPreconditionedDeviceIsInUse() throws SimException {
    try (SimDevice used = NativeSimDevice.open("", "melded-tlc-8x8")) {
      used.createNamespace(1L << 30);
      used.precondition("fill=50,random=100");
      long[] stats = new long[used.statNames().size()];
      used.stats(stats);
      long mapped = stats[used.statNames().indexOf("mapped_pages")];
      assertThat(mapped).isEqualTo((1L << 29) / 4096);
    }
    SimException e =
        catchThrowableOfType(SimException.class, () -> device.precondition("skew=zipf:21"));
    assertThat(e.status()).isEqualTo(SimStatus.ARGUMENT);
    assertThat(e).hasMessageContaining("past \"skew=zipf:21\": ").hasMessageContaining("up to 20");
  }

  @Test
  void aSnapshotIsTheDeviceAfterAPowerCut() throws SimException {
    assertThat(meldedPages(Directive.sequential(1 << 20))).isEqualTo(256);
    ByteBuffer snapshot = snapshot(device);
    try (SimDevice restored = NativeSimDevice.restore("", snapshot)) {
      assertThat(restored.namespaces()).containsExactly(namespace);
      assertThat(snapshot(restored)).isEqualTo(snapshot);
      long[] stats = new long[restored.statNames().size()];
      restored.stats(stats);
      assertThat(stats[restored.statNames().indexOf("mapped_pages")]).isEqualTo(256);
      assertThat(stats[restored.statNames().indexOf("now_ps")]).isZero();
    }
    int last = snapshot.limit() - 1;
    snapshot.put(last, (byte) (snapshot.get(last) ^ 1));
    SimException e =
        catchThrowableOfType(SimException.class, () -> NativeSimDevice.restore("", snapshot));
    assertThat(e.status()).isEqualTo(SimStatus.SNAPSHOT);
    assertThat(SimStatus.name(e.status())).isEqualTo("SNAPSHOT");
    assertThat(e).hasMessageContaining("checksum");
  }

  /** In a buffer that is first too small. */
  private static ByteBuffer snapshot(SimDevice device) throws SimException {
    ByteBuffer small = ByteBuffer.allocateDirect(8);
    int size = Math.toIntExact(device.snapshot(small));
    assertThat(small).as("left alone").isEqualTo(ByteBuffer.allocate(8));
    ByteBuffer whole = ByteBuffer.allocateDirect(size);
    assertThat(device.snapshot(whole)).isEqualTo(size);
    return whole;
  }

  @Test
  void forgottenAndDetachedCommandsRunOn() throws SimException {
    device.preload(namespace.nsid(), 0, BLOCKS, Directive.NONE);
    assertThat(read(true)).isZero();
    CommandRing ring = new CommandRing();
    device.attach(ring);
    ring.end(put(ring, Opcode.READ, namespace.nsid(), 0, BLOCKS));
    await(ring, put(ring, Opcode.READ, namespace.nsid(), 0, BLOCKS));
    assertThat(device.runRing(0, SECOND_NS)).isEqualTo(CommandRing.NEVER);
    assertThat(stat("read_commands")).isEqualTo(3);
  }

  @Test
  void errorsComeWithTheirText() {
    long status = device.submit(Opcode.READ, namespace.nsid(), 1L << 40, 1, Directive.NONE, false);
    assertThat(status).isEqualTo(SimStatus.RANGE);
    assertThat(device.lastError()).isNotBlank().doesNotContain("\0");
    assertThat(device.submit(3, namespace.nsid(), 0, 1, Directive.NONE, false))
        .isEqualTo(SimStatus.UNSUPPORTED);
    assertThat(device.await(12345, 0)).isEqualTo(SimStatus.TICKET);
    assertThat(device.setMode(true, -1)).isEqualTo(SimStatus.ARGUMENT);
  }

  @Test
  void thePackedLibraryHasDevicesAloneAndCannotBeMadeToFail() throws Exception {
    Path library = dir.resolve("libmeldsim.so");
    String resource = com.sun.jna.Platform.RESOURCE_PREFIX + "/libmeldsim.so";
    try (InputStream in = getClass().getClassLoader().getResourceAsStream(resource)) {
      Files.copy(in, library);
    }
    NativeLibrary packed = NativeLibrary.getInstance(library.toString());
    assertThat(packed.getFunction("meldsim_abi_version").invokeInt(new Object[0]))
        .isEqualTo(LibMeldsim.ABI_VERSION);
    for (String absent : List.of("meldsim_run", "meldsim_testing_inject_fault")) {
      assertThatThrownBy(() -> packed.getFunction(absent)).isInstanceOf(UnsatisfiedLinkError.class);
    }
  }

  @Test
  void aRangeHasItsLayout() {
    assertThat(device.preload(namespace.nsid(), 0, 3, Directive.sequential(1 << 20))).isZero();
    long[] pages = new long[3];
    assertThat(device.layout(namespace.nsid(), 0, 9, pages)).isEqualTo(SimStatus.OK);
    assertThat(pages).containsExactly(3, 0, 3);
    pages[0] = 7;
    assertThat(device.layout(namespace.nsid(), 1L << 40, 1, pages)).isEqualTo(SimStatus.RANGE);
    assertThat(pages).containsExactly(7, 0, 3);
  }

  @Test
  void aClosedDeviceIsAnErrorAndNoMore() {
    device.close();
    device.close();
    assertThat(read(false)).isEqualTo(SimStatus.CLOSED);
    assertThat(SimStatus.name(SimStatus.CLOSED)).isEqualTo("CLOSED");
  }

  @Test
  void anUnknownProfileNamesThoseThereAre() {
    SimException e =
        catchThrowableOfType(SimException.class, () -> NativeSimDevice.open("", "tape"));
    assertThat(e.status()).isEqualTo(SimStatus.PROFILE);
    assertThat(e).hasMessageContaining("tape").hasMessageContaining("melded-tlc-16x4");
  }

  @Test
  void aBadProfileFileNamesTheKey() throws Exception {
    Path file = Files.writeString(dir.resolve("größe.toml"), "name = \"x\"\nchanels = 8\n");
    SimException e =
        catchThrowableOfType(SimException.class, () -> NativeSimDevice.open("", file.toString()));
    assertThat(e.status()).isEqualTo(SimStatus.PROFILE);
    assertThat(e).hasMessageContaining("größe.toml").hasMessageContaining("chanels");
  }
}
