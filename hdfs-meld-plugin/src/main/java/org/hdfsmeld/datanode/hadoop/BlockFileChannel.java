package org.hdfsmeld.datanode.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.hdfsmeld.datanode.io.ReadStream;

/**
 * The channel of a {@link BlockInputStream}: the file's own, whose reads the device sees. Transfers
 * are delegated with their target, so the kernel still copies nothing.
 */
final class BlockFileChannel extends FileChannel {
  private final FileChannel channel;
  private final ReadStream reader;
  private final Runnable moved;

  /** A channel; {@code moved} hears that its position has changed behind its stream. */
  BlockFileChannel(FileChannel channel, ReadStream reader, Runnable moved) {
    this.channel = channel;
    this.reader = reader;
    this.moved = moved;
  }

  FileChannel delegate() {
    return channel;
  }

  ReadStream reader() {
    return reader;
  }

  @Override
  public int read(ByteBuffer dst) throws IOException {
    long offset = channel.position();
    int count = channel.read(dst);
    moved.run();
    reader.consume(offset, count);
    return count;
  }

  @Override
  public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    long begin = channel.position();
    long count = channel.read(dsts, offset, length);
    moved.run();
    consume(begin, count);
    return count;
  }

  @Override
  public int read(ByteBuffer dst, long position) throws IOException {
    int count = channel.read(dst, position);
    reader.consume(position, count);
    return count;
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    long sent = channel.transferTo(position, count, target);
    consume(position, sent);
    return sent;
  }

  @Override
  public long position() throws IOException {
    return channel.position();
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    channel.position(newPosition);
    moved.run();
    return this;
  }

  @Override
  public long size() throws IOException {
    return channel.size();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
    return channel.map(mode, position, size);
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) throws IOException {
    return channel.lock(position, size, shared);
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) throws IOException {
    return channel.tryLock(position, size, shared);
  }

  // The stream was opened for reading: the file's channel refuses what follows as it always does.

  @Override
  public int write(ByteBuffer src) throws IOException {
    return channel.write(src);
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    return channel.write(srcs, offset, length);
  }

  @Override
  public int write(ByteBuffer src, long position) throws IOException {
    return channel.write(src, position);
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    channel.truncate(size);
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    channel.force(metaData);
  }

  @Override
  public long transferFrom(ReadableByteChannel src, long position, long count) throws IOException {
    return channel.transferFrom(src, position, count);
  }

  @Override
  protected void implCloseChannel() throws IOException {
    reader.close();
    channel.close();
  }

  private void consume(long offset, long count) {
    // A channel call moves at most 2 GiB on every platform Hadoop runs on.
    reader.consume(offset, (int) Math.min(count, Integer.MAX_VALUE));
  }
}
