package org.hdfsmeld.datanode.hadoop;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.DataNodeVolumeMetrics;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.nativeio.NativeIOException;
import org.apache.hadoop.net.SocketOutputStream;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.hdfsmeld.datanode.io.ReadStream;
import org.hdfsmeld.datanode.io.StreamUser;
import org.hdfsmeld.datanode.io.WriteStream;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.BlockFiles;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.trace.ClientKind;

/**
 * Hadoop's own file I/O, which also tells the simulated device of the block files' part of it.
 *
 * <p>Every call does what it does in stock HDFS, first and unconditionally. Checksum files are left
 * alone. Renames need no care: the device knows blocks by their id, which a rename keeps, be it to
 * the finalized folder or to the trash.
 *
 * <p>Streams that clients read and write wait for the device. Those that HDFS uses under its
 * dataset locks (files opened for update, and whole files read to break a hard link) do not.
 */
public class MeldFileIoProvider extends FileIoProvider {
  private static final long COPY_PART_BYTES = 64 << 10;

  /**
   * The checksum file that this thread opened last. HDFS opens it just before it makes the two
   * output streams of a replica from bare descriptors; this one tells which is which, and whose.
   */
  private static final ThreadLocal<OpenMeta> OPEN_META = new ThreadLocal<>();

  /**
   * The block file that this thread opened last: what HDFS advises of it comes soon after. A thread
   * may open nothing more for long.
   */
  private static final ThreadLocal<Reference<BlockInputStream>> OPEN_READ = new ThreadLocal<>();

  private final MeldVolumes volumes;
  private final DataNode datanode;

  /** Its length is that of what is open, wherever HDFS has moved it. */
  public record OpenFile(FileChannel channel, File file)
      implements BlockFile, Uninterruptibles.ChannelCall {
    @Override
    public long call() throws IOException {
      return channel.size();
    }

    @Override
    public long length() {
      try {
        return Uninterruptibles.call(this);
      } catch (IOException e) {
        // Closed meanwhile: nothing more to request ahead.
        return 0;
      }
    }
  }

  private record OpenMeta(FileDescriptor descriptor, BlockKey block, File folder) {
    File dataFile() {
      return BlockFiles.dataFile(folder, block.id());
    }
  }

  public MeldFileIoProvider(Configuration conf, DataNode datanode, MeldVolumes volumes) {
    super(conf, datanode);
    this.volumes = volumes;
    this.datanode = datanode;
  }

  private StreamUser user(FsVolumeSpi volume, MeldVolume simulated, boolean writes) {
    String thread = Thread.currentThread().getName();
    Optional<ClientKind> kind = HadoopThreads.kind(thread);
    if (kind.isEmpty()) {
      simulated.counters().increment(VolumeCounter.UNKNOWN_THREADS);
    }
    return new StreamUser(
        kind.orElse(ClientKind.DATANODE), HadoopThreads.client(thread), latency(volume, writes));
  }

  /** By what HDFS finds slow disks; null where it looks for none. */
  private LongConsumer latency(FsVolumeSpi volume, boolean writes) {
    DataNodeVolumeMetrics metrics =
        datanode == null || datanode.getDiskMetrics() == null ? null : volume.getMetrics();
    if (metrics == null) {
      return null;
    }
    LongConsumer times = writes ? metrics::addWriteIoLatency : metrics::addReadIoLatency;
    return times.andThen(metrics::addDataFileIoLatency);
  }

  @Override
  public FileInputStream getFileInputStream(FsVolumeSpi volume, File f)
      throws FileNotFoundException {
    return reading(volume, f, super.getFileInputStream(volume, f), false);
  }

  @Override
  public FileInputStream getShareDeleteFileInputStream(FsVolumeSpi volume, File f, long offset)
      throws IOException {
    return reading(volume, f, super.getShareDeleteFileInputStream(volume, f, offset), true);
  }

  @Override
  public FileInputStream openAndSeek(FsVolumeSpi volume, File f, long offset) throws IOException {
    return reading(volume, f, super.openAndSeek(volume, f, offset), true);
  }

  private FileInputStream reading(FsVolumeSpi volume, File f, FileInputStream in, boolean paced) {
    MeldVolume simulated = volumes.of(volume);
    BlockKey block = simulated == null ? null : simulated.dataBlock(f);
    if (block == null) {
      return in;
    }
    BlockFile file = new OpenFile(in.getChannel(), f);
    StreamUser user = user(volume, simulated, false);
    BlockInputStream stream =
        new BlockInputStream(in, new ReadStream(simulated, block, file, paced, user));
    OPEN_READ.set(new WeakReference<>(stream));
    return stream;
  }

  @Override
  public void posixFadvise(
      FsVolumeSpi volume,
      String identifier,
      FileDescriptor outFd,
      long offset,
      long length,
      int flags)
      throws NativeIOException {
    super.posixFadvise(volume, identifier, outFd, offset, length, flags);
    Reference<BlockInputStream> opened = OPEN_READ.get();
    BlockInputStream stream = opened == null ? null : opened.get();
    // Of all the advice that HDFS gives only the one for long reads is about the whole file. The
    // flags say nothing where Hadoop's native library is absent.
    if (stream != null && offset == 0 && length == 0) {
      stream.longRead(outFd);
    }
  }

  @Override
  public void transferToSocketFully(
      FsVolumeSpi volume,
      SocketOutputStream sockOut,
      FileChannel fileCh,
      long position,
      int count,
      LongWritable waitTime,
      LongWritable transferTime)
      throws IOException {
    FileChannel channel = fileCh;
    if (fileCh instanceof BlockFileChannel block) {
      block.reader().consume(position, count);
      channel = block.delegate();
    }
    super.transferToSocketFully(volume, sockOut, channel, position, count, waitTime, transferTime);
  }

  @Override
  public FileOutputStream getFileOutputStream(FsVolumeSpi volume, File f, boolean append)
      throws FileNotFoundException {
    FileOutputStream out = super.getFileOutputStream(volume, f, append);
    MeldVolume simulated = volumes.of(volume);
    BlockKey block = simulated == null ? null : simulated.dataBlock(f);
    return block == null ? out : writing(volume, simulated, block, f, out);
  }

  @Override
  public FileOutputStream getFileOutputStream(FsVolumeSpi volume, FileDescriptor fd) {
    FileOutputStream out = super.getFileOutputStream(volume, fd);
    OpenMeta meta = OPEN_META.get();
    if (meta == null) {
      return out;
    }
    if (meta.descriptor() == fd) {
      OPEN_META.remove();
      return out;
    }
    MeldVolume simulated = volumes.of(volume);
    return simulated == null ? out : writing(volume, simulated, meta.block(), meta.dataFile(), out);
  }

  private FileOutputStream writing(
      FsVolumeSpi volume, MeldVolume simulated, BlockKey block, File file, FileOutputStream out) {
    StreamUser user = user(volume, simulated, true);
    return new BlockOutputStream(out, new WriteStream(simulated, block, file, true, user));
  }

  @Override
  public RandomAccessFile getRandomAccessFile(FsVolumeSpi volume, File f, String mode)
      throws FileNotFoundException {
    MeldVolume simulated = volumes.of(volume);
    boolean update = simulated != null && !mode.equals("r");
    BlockKey block = update ? simulated.dataBlock(f) : null;
    if (block != null) {
      return new BlockRandomAccessFile(simulated, block, f, mode, user(volume, simulated, true));
    }
    RandomAccessFile file = super.getRandomAccessFile(volume, f, mode);
    BlockKey metaOf = update ? simulated.metaBlock(f) : null;
    if (metaOf != null) {
      OPEN_META.set(new OpenMeta(open(file::getFD), metaOf, f.getParentFile()));
    }
    return file;
  }

  /** A descriptor as a file has it that was just opened. */
  static FileDescriptor open(CallableRaisingIOE<FileDescriptor> file) {
    try {
      return file.apply();
    } catch (IOException e) {
      // It is always there.
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void sync(FsVolumeSpi volume, FileOutputStream fos) throws IOException {
    super.sync(volume, fos);
    if (fos instanceof BlockOutputStream block) {
      block.synced();
    }
  }

  @Override
  public boolean delete(FsVolumeSpi volume, File f) {
    return deleted(volume, f, super.delete(volume, f));
  }

  @Override
  public boolean deleteWithExistsCheck(FsVolumeSpi volume, File f) {
    return deleted(volume, f, super.deleteWithExistsCheck(volume, f));
  }

  @Override
  public boolean fullyDelete(FsVolumeSpi volume, File dir) {
    return deleted(volume, dir, super.fullyDelete(volume, dir));
  }

  private boolean deleted(FsVolumeSpi volume, File f, boolean gone) {
    MeldVolume simulated = gone ? volumes.of(volume) : null;
    BlockKey block = simulated == null ? null : simulated.dataBlock(f);
    if (block != null) {
      simulated.deleted(block, f);
    }
    return gone;
  }

  /** Copies whole files; {@code volume} is the source, the target may be on another one. */
  @Override
  public void nativeCopyFileUnbuffered(
      FsVolumeSpi volume, File src, File target, boolean preserveFileDate) throws IOException {
    super.nativeCopyFileUnbuffered(volume, src, target, preserveFileDate);
    long length = target.length();
    MeldVolume from = volumes.of(volume);
    BlockKey block = from == null ? null : from.dataBlock(src);
    if (block != null) {
      ReadStream reader =
          new ReadStream(from, block, BlockFile.of(src), false, user(volume, from, false));
      forEachPart(length, reader::consume);
      reader.close();
    }
    MeldVolume to = volumes.holding(target);
    BlockKey copy = to == null ? null : to.dataBlock(target);
    if (copy != null) {
      WriteStream writer = new WriteStream(to, copy, target, false, StreamUser.DATANODE);
      forEachPart(length, writer::write);
      writer.close();
    }
  }

  private interface Part {
    void at(long offset, int length);
  }

  private static void forEachPart(long length, Part part) {
    for (long offset = 0; offset < length; offset += COPY_PART_BYTES) {
      part.at(offset, (int) Math.min(COPY_PART_BYTES, length - offset));
    }
  }
}
