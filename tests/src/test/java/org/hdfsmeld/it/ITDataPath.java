package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every way that bytes go into and out of a block: the same bytes come back, and the device saw
 * them.
 */
class ITDataPath {
  private static final int FILE_BYTES = 3 * MeldCluster.BLOCK_BYTES + 123_457;

  private static final Map<Boolean, MeldCluster> CLUSTERS = new HashMap<>();
  private static final AtomicInteger FILES = new AtomicInteger();

  /** Each test has its own. */
  private final Path file = new Path("/file-" + FILES.incrementAndGet());

  private MeldCluster cluster;
  private Volumes.Since since;

  private void start(boolean transferTo) {
    cluster = CLUSTERS.computeIfAbsent(transferTo, ITDataPath::started);
    ITHints.flush();
    since = new Volumes.Since();
  }

  private static MeldCluster started(boolean transferTo) {
    return MeldCluster.builder()
        .set("dfs.datanode.transferTo.allowed", Boolean.toString(transferTo))
        .start();
  }

  @AfterAll
  static void stop() {
    CLUSTERS.values().forEach(MeldCluster::close);
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true, false})
  void writesAndReadsReachTheDevice(boolean transferTo) throws Exception {
    start(transferTo);
    byte[] bytes = Content.write(cluster.fileSystem(), file, 1, FILE_BYTES);
    assertThat(since.total("host_written_bytes")).isGreaterThanOrEqualTo(FILE_BYTES);
    assertThat(since.total("hinted_blocks")).as("full-size blocks").isEqualTo(3);
    assertThat(since.total("unhinted_blocks")).as("the short last block").isEqualTo(1);
    assertThat(since.total("melded_mapped_pages")).isPositive();

    long before = since.total("host_read_bytes");
    Content.assertSame(cluster.fileSystem(), file, bytes);
    assertThat(since.total("host_read_bytes") - before).isGreaterThanOrEqualTo(FILE_BYTES);
    awaitTotal("forwarded_read_bytes", FILE_BYTES);
    assertThat(since.total("melded_reads")).isPositive();
    assertThat(since.total("unmapped_page_reads")).isZero();
    assertThat(since.total("errors")).isZero();
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true, false})
  void shortReadsAtOddOffsets(boolean transferTo) throws Exception {
    start(transferTo);
    byte[] bytes = Content.write(cluster.fileSystem(), file, 2, FILE_BYTES);
    Random random = new Random(3);
    try (FSDataInputStream in = cluster.fileSystem().open(file)) {
      for (int i = 0; i < 300; i++) {
        int offset = random.nextInt(FILE_BYTES);
        int length = Math.min(1 + random.nextInt(i % 3 == 0 ? 7 : 9_001), FILE_BYTES - offset);
        byte[] part = new byte[length];
        in.readFully(offset, part);
        for (int j = 0; j < length; j++) {
          if (part[j] != bytes[offset + j]) {
            throw new AssertionError("byte " + (offset + j) + " of read " + i);
          }
        }
      }
    }
    awaitTotal("forwarded_reads", 300);
    assertThat(since.total("host_read_bytes"))
        .as("small reads at random places do not drag whole windows in")
        .isLessThan(300L << 20);
    assertThat(since.total("errors")).isZero();
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true, false})
  void hflushedAndHsyncedBytesAreReadableWhileWriting(boolean transferTo) throws Exception {
    start(transferTo);
    byte[] bytes = Content.random(4, 2_500_001);
    try (FSDataOutputStream out = cluster.fileSystem().create(file)) {
      out.write(bytes, 0, 1_000_003);
      out.hflush();
      try (FSDataInputStream in = cluster.fileSystem().open(file)) {
        byte[] seen = new byte[1_000_003];
        in.readFully(seen);
        assertThat(seen).isEqualTo(Arrays.copyOf(bytes, 1_000_003));
      }
      long flushes = since.total("flush_commands");
      out.write(bytes, 1_000_003, bytes.length - 1_000_003);
      out.hsync();
      assertThat(since.total("flush_commands")).isGreaterThan(flushes);
    }
    Content.assertSame(cluster.fileSystem(), file, bytes);
    assertThat(since.total("errors")).isZero();
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true, false})
  void appendAndTruncate(boolean transferTo) throws Exception {
    start(transferTo);
    byte[] bytes = Content.write(cluster.fileSystem(), file, 5, MeldCluster.BLOCK_BYTES + 77_777);
    for (int round = 0; round < 3; round++) {
      byte[] more = Content.random(6 + round, 1_234_567);
      try (FSDataOutputStream out = cluster.fileSystem().append(file)) {
        out.write(more);
      }
      bytes = Content.concat(bytes, more);
      Content.assertSame(cluster.fileSystem(), file, bytes);
    }
    int shorter = MeldCluster.BLOCK_BYTES + 33_333;
    boolean done = cluster.fileSystem().truncate(file, shorter);
    if (!done) {
      await().until(() -> cluster.fileSystem().recoverLease(file));
    }
    bytes = Arrays.copyOf(bytes, shorter);
    Content.assertSame(cluster.fileSystem(), file, bytes);
    assertThat(since.total("errors")).isZero();
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true})
  void aBlockThatWasCutFreesItsPages(boolean transferTo) throws Exception {
    start(transferTo);
    byte[] bytes = Content.write(cluster.fileSystem(), file, 9, MeldCluster.BLOCK_BYTES);
    long pages = since.total("mapped_pages");
    if (!cluster.fileSystem().truncate(file, MeldCluster.BLOCK_BYTES / 4)) {
      await().until(() -> cluster.fileSystem().isFileClosed(file));
    }
    assertThat(since.total("mapped_pages")).isEqualTo(pages / 4);
    Content.assertSame(
        cluster.fileSystem(), file, Arrays.copyOf(bytes, MeldCluster.BLOCK_BYTES / 4));
    assertThat(since.total("mapped_pages")).isEqualTo(pages / 4);
    assertThat(since.total("errors")).isZero();
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true})
  void deletedBlocksFreeTheDevice(boolean transferTo) throws Exception {
    start(transferTo);
    Content.write(cluster.fileSystem(), file, 7, FILE_BYTES);
    assertThat(since.total("mapped_pages")).isPositive();
    cluster.fileSystem().delete(file, false);
    await().untilAsserted(() -> assertThat(since.total("mapped_pages")).isZero());
    assertThat(since.total("blocks_mapped")).isZero();
    assertThat(since.total("errors")).isZero();
  }

  @ParameterizedTest(name = "transferTo {0}")
  @ValueSource(booleans = {true, false})
  void manyWritersAndReadersAtOnce(boolean transferTo) throws Exception {
    start(transferTo);
    int files = 6;
    ExecutorService pool = Executors.newFixedThreadPool(files);
    try {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < files; i++) {
        Path path = new Path(file, Integer.toString(i));
        int seed = 100 + i;
        work.add(
            pool.submit(
                () -> {
                  byte[] bytes =
                      Content.write(
                          cluster.fileSystem(), path, seed, 5_000_011 + 500_009 * (seed % 7));
                  Content.assertSame(cluster.fileSystem(), path, bytes);
                  return null;
                }));
      }
      for (Future<?> task : work) {
        task.get();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(since.total("errors")).isZero();
  }

  /**
   * A DataNode counts the last reads when it closes the block, which may be after the client has
   * the bytes.
   */
  private void awaitTotal(String counter, long atLeast) {
    await().untilAsserted(() -> assertThat(since.total(counter)).isGreaterThanOrEqualTo(atLeast));
  }
}
