package org.hdfsmeld.spark.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.HandleOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.hdfs.DFSInputStream;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.io.ElasticByteBufferPool;
import org.hdfsmeld.spark.LocalHdfs;
import org.hdfsmeld.spark.cli.Json;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A recorded stream is stock HDFS's to its reader, and all that it gives is recorded. */
class ITRecordingStream {
  private static final int BYTES = 2 * LocalHdfs.BLOCK_BYTES + 300_000;
  private static final byte[] CONTENT = new byte[BYTES];

  private static LocalHdfs hdfs;
  private static Path path;
  private static FileSystem recording;

  private final List<ReadBatch> batches = Collections.synchronizedList(new ArrayList<>());
  private ReadSender sender;

  @BeforeAll
  static void write() throws Exception {
    hdfs = new LocalHdfs("recording-stream", 1);
    new Random(3).nextBytes(CONTENT);
    path = new Path(hdfs.path("file"));
    hdfs.write(path.toString(), CONTENT);
    Configuration conf = new Configuration(hdfs.fs().getConf());
    conf.set("fs.hdfs.impl", RecordingFileSystem.class.getName());
    recording = FileSystem.newInstance(hdfs.fs().getUri(), conf);
  }

  @AfterAll
  static void stop() throws Exception {
    recording.close();
    hdfs.close();
  }

  @BeforeEach
  void record() {
    sender = ReadSender.start("test", batches::add);
  }

  @AfterEach
  void end() {
    sender.close();
  }

  @Test
  void wholeFileIsOneReadABlock() throws Exception {
    try (FSDataInputStream in = recording.open(path)) {
      assertThat(in.readAllBytes()).isEqualTo(CONTENT);
    }
    List<BlockRead> reads = reads();
    List<LocatedBlock> blocks = blocks();
    assertThat(reads).hasSize(3);
    for (int i = 0; i < reads.size(); i++) {
      BlockRead read = reads.get(i);
      assertThat(read.path()).isEqualTo("/recording-stream/file");
      assertThat(read.pool()).isEqualTo(blocks.get(i).getBlock().getBlockPoolId());
      assertThat(read.block()).isEqualTo(blocks.get(i).getBlock().getBlockId());
      assertThat(read.offset()).isZero();
      assertThat(read.bytes()).isEqualTo(blocks.get(i).getBlockSize());
      assertThat(read.task()).isEqualTo(-1);
      assertThat(read.waitedNs()).isPositive().isLessThanOrEqualTo(read.endNs() - read.beginNs());
    }
  }

  @Test
  void everyKindOfReadGivesTheBytesOfItsPlaceAndIsRecorded() throws Exception {
    Random random = new Random(4);
    long total = 0;
    try (FSDataInputStream in = recording.open(path);
        FSDataInputStream stock = hdfs.fs().open(path)) {
      for (int i = 0; i < 400; i++) {
        int position = random.nextInt(BYTES);
        int length = 1 + random.nextInt(Math.min(BYTES - position, 1 << random.nextInt(21)));
        int kind = i % 9;
        if (kind < 5) {
          in.seek(position);
          stock.seek(position);
        }
        byte[] got = read(in, kind, position, length);
        assertThat(got)
            .as("kind %s at %s", kind, position)
            .isEqualTo(read(stock, kind, position, length));
        assertThat(ByteBuffer.wrap(got)).isEqualTo(ByteBuffer.wrap(CONTENT, position, got.length));
        assertThat(in.getPos()).isEqualTo(stock.getPos());
        assertThat(in.available()).isEqualTo(stock.available());
        total += got.length;
      }
    }
    assertThat(reads().stream().mapToLong(BlockRead::bytes).sum()).isEqualTo(total);
  }

  /** As many bytes as that kind of read returns; whether all is the stream's choice. */
  private static byte[] read(FSDataInputStream in, int kind, int position, int length)
      throws Exception {
    byte[] bytes = new byte[length];
    ByteBuffer buffer = kind % 2 == 0 ? ByteBuffer.wrap(bytes) : ByteBuffer.allocateDirect(length);
    switch (kind) {
      case 0 -> {
        return new byte[] {in.readByte()};
      }
      case 1 -> in.readFully(bytes);
      case 2, 3 -> {
        while (buffer.hasRemaining()) {
          in.read(buffer);
        }
        return array(buffer);
      }
      case 4 -> {
        ElasticByteBufferPool pool = new ElasticByteBufferPool();
        ByteBuffer pooled = in.read(pool, length, EnumSet.of(ReadOption.SKIP_CHECKSUMS));
        byte[] copy = new byte[pooled.remaining()];
        pooled.duplicate().get(copy);
        in.releaseBuffer(pooled);
        return copy;
      }
      case 5 -> in.readFully(position, bytes);
      case 6 -> assertThat(in.read(position, bytes, 0, length)).isEqualTo(length);
      default -> {
        ((ByteBufferPositionedReadable) in).readFully(position, buffer);
        return array(buffer);
      }
    }
    return bytes;
  }

  private static byte[] array(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.flip().remaining()];
    buffer.get(bytes);
    return bytes;
  }

  @Test
  void rangesAreReadAtTheirPlaces() throws Exception {
    List<FileRange> ranges =
        List.of(
            FileRange.createFileRange(LocalHdfs.BLOCK_BYTES - 100, 200),
            FileRange.createFileRange(5, 70_000),
            FileRange.createFileRange(BYTES - 10, 10));
    try (FSDataInputStream in = recording.open(path)) {
      in.readVectored(ranges, ByteBuffer::allocateDirect);
      for (FileRange range : ranges) {
        assertThat(range.getData().get())
            .isEqualTo(ByteBuffer.wrap(CONTENT, (int) range.getOffset(), range.getLength()));
      }
      assertThat(in.minSeekForVectorReads()).isPositive();
    }
    assertThat(reads())
        .extracting(BlockRead::bytes)
        .containsExactlyInAnyOrder(70_000L, 100L, 100L, 10L);
  }

  @Test
  void itIsWhatStockOpens() throws Exception {
    try (FSDataInputStream in = recording.open(path);
        FSDataInputStream stock = hdfs.fs().open(path)) {
      assertThat(in).isInstanceOf(HdfsDataInputStream.class);
      assertThat(in.getWrappedStream()).isInstanceOf(DFSInputStream.class);
      for (String capability :
          List.of(
              StreamCapabilities.READAHEAD,
              StreamCapabilities.DROPBEHIND,
              StreamCapabilities.UNBUFFER,
              StreamCapabilities.READBYTEBUFFER,
              StreamCapabilities.PREADBYTEBUFFER,
              StreamCapabilities.VECTOREDIO,
              StreamCapabilities.HFLUSH,
              StreamCapabilities.IOSTATISTICS)) {
        assertThat(in.hasCapability(capability)).isEqualTo(stock.hasCapability(capability));
      }
      assertThat(in.getFileDescriptor()).isEqualTo(stock.getFileDescriptor());
      assertThat(in.getIOStatistics()).isEqualTo(stock.getIOStatistics());
      assertThat(in.markSupported()).isEqualTo(stock.markSupported());
      HdfsDataInputStream own = (HdfsDataInputStream) in;
      assertThat(own.getVisibleLength()).isEqualTo(BYTES);
      assertThat(own.getAllBlocks()).hasSize(3);
      in.setReadahead(1L << 16);
      in.setDropBehind(true);
      assertThat(in.skip(LocalHdfs.BLOCK_BYTES + 5)).isEqualTo(LocalHdfs.BLOCK_BYTES + 5);
      assertThat(in.read()).isEqualTo(CONTENT[LocalHdfs.BLOCK_BYTES + 5] & 0xff);
      assertThat(own.getCurrentBlock()).isEqualTo(blocks().get(1).getBlock());
      assertThat(own.getCurrentDatanode()).isNotNull();
      in.unbuffer();
      assertThat(own.getReadStatistics().getTotalBytesRead()).isEqualTo(1);
      own.clearReadStatistics();
      assertThat(own.getReadStatistics().getTotalBytesRead()).isZero();
      stock.skip(LocalHdfs.BLOCK_BYTES + 5);
      assertThat(stock.read()).isNotNegative();
      assertThat(in.seekToNewSource(0)).isEqualTo(stock.seekToNewSource(0));
    }
    assertThat(reads())
        .singleElement()
        .satisfies(
            read -> {
              assertThat(read.offset()).isEqualTo(5);
              assertThat(read.bytes()).isEqualTo(1);
            });
  }

  @Test
  void endsAndErrorsAreStocks() throws Exception {
    FSDataInputStream in = recording.open(path);
    byte[] two = new byte[2];
    assertThat(in.read(BYTES, two, 0, 2)).isEqualTo(-1);
    assertThatThrownBy(() -> in.readFully(BYTES - 1, two)).isInstanceOf(EOFException.class);
    assertThatThrownBy(() -> in.seek(BYTES + 1)).isInstanceOf(EOFException.class);
    in.seek(BYTES);
    assertThat(in.read()).isEqualTo(-1);
    assertThat(in.read(two)).isEqualTo(-1);
    assertThat(in.read(ByteBuffer.wrap(two))).isEqualTo(-1);
    in.close();
    in.close();
    assertThatThrownBy(in::read).hasMessageContaining("closed");
    Path empty = new Path(hdfs.path("empty"));
    hdfs.write(empty.toString(), new byte[0]);
    try (FSDataInputStream none = recording.open(empty)) {
      assertThat(none.readAllBytes()).isEmpty();
    }
    assertThat(reads()).isEmpty();
    assertThat(batches.stream().mapToLong(ReadBatch::dropped).sum()).isZero();
  }

  @Test
  void everyWayToOpenRecords() throws Exception {
    FileStatus status = recording.getFileStatus(path);
    try (FSDataInputStream built =
            recording.openFile(path).opt("fs.option.openfile.length", BYTES).build().get();
        FSDataInputStream handled =
            recording.open(recording.getPathHandle(status, HandleOpt.exact()), 4096)) {
      for (FSDataInputStream in : List.of(built, handled)) {
        assertThat(in).isInstanceOf(RecordingInputStream.class);
        assertThat(in.read()).isEqualTo(CONTENT[0] & 0xff);
      }
    }
    assertThat(reads())
        .hasSize(2)
        .allSatisfy(read -> assertThat(read.path()).isEqualTo("/recording-stream/file"));
  }

  @Test
  void withoutARecorderItIsStock() throws Exception {
    sender.close();
    try (FSDataInputStream in = recording.open(path)) {
      assertThat(in).isExactlyInstanceOf(HdfsDataInputStream.class);
    }
  }

  private static List<LocatedBlock> blocks() throws Exception {
    try (FSDataInputStream in = hdfs.fs().open(path)) {
      return ((HdfsDataInputStream) in).getAllBlocks();
    }
  }

  private List<BlockRead> reads() throws Exception {
    sender.close();
    List<BlockRead> reads = new ArrayList<>();
    for (ReadBatch batch : batches) {
      for (String line : batch.lines().lines().toList()) {
        reads.add(TimelineFile.read(Json.parse(line).path("read")));
      }
    }
    return reads;
  }
}
