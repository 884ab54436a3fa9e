package org.hdfsmeld.datanode.readahead;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.hdfsmeld.datanode.config.WindowConfiguration;
import org.junit.jupiter.api.Test;

/**
 * Traces: after each read, what it requested as {@code first+count}, and what is outstanding then;
 * all in pages of 4 KiB. The sequences were worked out by hand from the kernel's functions.
 */
class TestKernelReadAhead {
  private static final int PAGE = 4 << 10;
  private static final int PACKET = 16 * PAGE;
  private static final long MIB = 1 << 20;

  private final RecordingSource source = new RecordingSource(128 * MIB);

  private KernelReadAhead kernel(long readAheadKib, boolean fadvise, boolean longRead) {
    return new KernelReadAhead(
        source,
        PAGE,
        new WindowConfiguration(
            WindowConfiguration.Mode.LINUX, readAheadKib << 10, 1280 << 10, fadvise, 4 << 20),
        longRead);
  }

  private List<String> sequential(KernelReadAhead window, long from, int reads, int bytes) {
    List<String> traces = new ArrayList<>();
    for (int i = 0; i < reads; i++) {
      window.read(from + (long) i * bytes, bytes);
      traces.add(source.trace(PAGE));
    }
    return traces;
  }

  @Test
  void packetsFromTheStartWithoutAdvice() {
    // The first window is the largest at once, a mark at its half; from then on one is always
    // ahead.
    assertThat(sequential(kernel(128, false, true), 0, 6, PACKET))
        .containsExactly("0+32 |0", "32+32 |32", "64+32 |32", "|32", "96+32 |32", "|32");
  }

  @Test
  void smallReadsFromTheStartRampUp() {
    assertThat(sequential(kernel(128, false, false), 0, 14, PAGE))
        .containsExactly(
            "0+4 |0",
            "4+8 |8",
            "|8",
            "|8",
            "12+16 |16",
            "|16",
            "|16",
            "|16",
            "|16",
            "|16",
            "|16",
            "|16",
            "28+32 |32",
            "|32");
  }

  @Test
  void aStandaloneReadIsReadAsIsAndTheNextOneIsSequential() {
    assertThat(sequential(kernel(128, false, false), 1000 * PAGE, 3, PAGE))
        .containsExactly("1000+1 |0", "1001+4 |0", "1005+8 |8");
  }

  @Test
  void randomReadsNeverReadAhead() {
    KernelReadAhead window = kernel(128, false, false);
    List<String> traces = new ArrayList<>();
    for (long page : new long[] {5000, 300, 9000, 40}) {
      window.read(page * PAGE, 2 * PAGE);
      traces.add(source.trace(PAGE));
    }
    assertThat(traces).containsExactly("5000+2 |0", "300+2 |0", "9000+2 |0", "40+2 |0");
  }

  @Test
  void aReadLargerThanTheWindowTakesAsMuchAsARequest() {
    KernelReadAhead window = kernel(128, false, false);
    window.read(1000L * PAGE, 100 * PAGE);
    // ractl_max_pages: up to a request, which is 320 pages.
    assertThat(source.trace(PAGE)).isEqualTo("1000+100 |0");
  }

  @Test
  void adviceDoublesTheWindowAndReadsOneRequestAhead() {
    // WILLNEED of 4 MiB is cut to a request, 320 pages. Past it the kernel starts afresh, small.
    KernelReadAhead window = kernel(128, true, true);
    assertThat(sequential(window, 0, 20, PACKET))
        .startsWith("0+320 |0", "|0")
        .endsWith("|0")
        .allSatisfy(t -> assertThat(t).endsWith("|0"));
    assertThat(sequential(window, 320 * PAGE, 8, PACKET))
        .containsExactly(
            "320+32 |0", "352+64 |64", "416+64 |64", "|64", "|64", "|64", "480+64 |64", "|64");
    // Half of the 4 MiB is sent at page 512: what is not cached of the next 320 pages is requested.
    assertThat(sequential(window, 448 * PAGE, 5, PACKET))
        .containsExactly("|64", "|64", "544+64 |64", "|64", "608+224 |288");
  }

  @Test
  void withoutANativeLibraryTheDataNodeReadsNothingAhead() {
    assertThat(sequential(kernel(128, false, true), 0, 1, PACKET)).containsExactly("0+32 |0");
  }

  @Test
  void aShortReadIsNotAdvised() {
    assertThat(sequential(kernel(128, true, false), 0, 1, PACKET)).containsExactly("0+32 |0");
  }

  @Test
  void withoutReadAheadPagesAreReadOneByOne() {
    assertThat(sequential(kernel(0, false, false), 0, 1, 3 * PAGE))
        .containsExactly("0+1 1+1 2+1 |0");
  }

  @Test
  void aLargeReadAheadIsSplitIntoRequests() {
    KernelReadAhead window = kernel(4096, false, false);
    assertThat(sequential(window, 0, 5, PACKET))
        .containsExactly("0+64 |0", "64+128 |128", "|128", "|128", "192+256 |256");
    assertThat(sequential(window, 5L * PACKET, 8, PACKET)).endsWith("448+320 768+192 |512");
  }

  @Test
  void readsAfterCachedHistoryAreRecognised() {
    KernelReadAhead window = kernel(128, false, false);
    // A standalone read leaves pages 1000 to 1007; back, and then a miss right after them.
    window.read(1000L * PAGE, 8 * PAGE);
    window.read(1000L * PAGE, PAGE);
    source.trace(PAGE);
    window.read(1008L * PAGE, PAGE);
    assertThat(source.trace(PAGE)).isEqualTo("1008+9 |0");
  }

  @Test
  void nothingIsRequestedPastTheEndNorTwice() {
    source.readable = 3 * MIB + 10;
    KernelReadAhead window = kernel(128, true, true);
    for (long at = 0; at < source.readable; at += PACKET) {
      window.read(at, (int) Math.min(PACKET, source.readable - at));
    }
    source.assertContiguous(0, 3 * MIB + PAGE);
    assertThat(source.open).isEmpty();
  }

  @Test
  void requestsCoverWholePagesOfTheDevice() {
    KernelReadAhead window =
        new KernelReadAhead(
            source,
            16 << 10,
            new WindowConfiguration(
                WindowConfiguration.Mode.LINUX, 128 << 10, 1280 << 10, false, 0),
            false);
    for (long at = 5 * PAGE; at < MIB; at += PAGE) {
      window.read(at, PAGE);
    }
    assertThat(source.requests)
        .allSatisfy(r -> assertThat(r.offset() % (16 << 10)).isZero())
        .allSatisfy(r -> assertThat(r.length() % (16 << 10)).isZero());
    source.assertContiguous(16 << 10, source.requestedTo());
  }

  @Test
  void aBlockTheDeviceDoesNotHaveIsNotWaitedFor() {
    source.readable = 0;
    assertThat(sequential(kernel(128, true, true), 0, 2, PACKET)).containsExactly("|0", "|0");
  }
}
