package org.hdfsmeld.spark.timeline;

import java.io.FilterInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetDropBehind;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.HasEnhancedByteBufferAccess;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.io.ByteBufferPool;

/**
 * A stream as HDFS opens it, with its reads recorded. All of HDFS's streams read vectors of ranges
 * by one positional read each; so does this one, by the interface's own method.
 */
final class RecordedInput extends FilterInputStream
    implements Seekable,
        PositionedReadable,
        ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanSetDropBehind,
        CanSetReadahead,
        CanUnbuffer,
        HasEnhancedByteBufferAccess,
        StreamCapabilities {
  private final HdfsDataInputStream stock;
  private final StreamReads reads;

  RecordedInput(HdfsDataInputStream stock, StreamReads reads) {
    super(stock);
    this.stock = stock;
    this.reads = reads;
  }

  @Override
  public int read() throws IOException {
    long began = reads.enter();
    int value = stock.read();
    sequential(began, value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    long began = reads.enter();
    int count = stock.read(buffer, offset, length);
    sequential(began, count);
    return count;
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    long began = reads.enter();
    int count = stock.read(buffer);
    sequential(began, count);
    return count;
  }

  @Override
  public ByteBuffer read(ByteBufferPool pool, int most, EnumSet<ReadOption> options)
      throws IOException {
    long began = reads.enter();
    ByteBuffer buffer = stock.read(pool, most, options);
    sequential(began, buffer == null ? 0 : buffer.remaining());
    return buffer;
  }

  @Override
  public int read(long position, byte[] buffer, int offset, int length) throws IOException {
    long began = reads.enter();
    int count = stock.read(position, buffer, offset, length);
    positional(position, began, count);
    return count;
  }

  @Override
  public void readFully(long position, byte[] buffer, int offset, int length) throws IOException {
    long began = reads.enter();
    stock.readFully(position, buffer, offset, length);
    positional(position, began, length);
  }

  @Override
  public void readFully(long position, byte[] buffer) throws IOException {
    long began = reads.enter();
    stock.readFully(position, buffer);
    positional(position, began, buffer.length);
  }

  @Override
  public int read(long position, ByteBuffer buffer) throws IOException {
    long began = reads.enter();
    int count = stock.read(position, buffer);
    positional(position, began, count);
    return count;
  }

  @Override
  public void readFully(long position, ByteBuffer buffer) throws IOException {
    long began = reads.enter();
    int length = buffer.remaining();
    stock.readFully(position, buffer);
    positional(position, began, length);
  }

  @Override
  public int minSeekForVectorReads() {
    return stock.minSeekForVectorReads();
  }

  @Override
  public int maxReadSizeForVectorReads() {
    return stock.maxReadSizeForVectorReads();
  }

  @Override
  public void seek(long position) throws IOException {
    stock.seek(position);
  }

  @Override
  public long getPos() throws IOException {
    return stock.getPos();
  }

  @Override
  public boolean seekToNewSource(long position) throws IOException {
    return stock.seekToNewSource(position);
  }

  @Override
  public void setReadahead(Long bytes) throws IOException {
    stock.setReadahead(bytes);
  }

  @Override
  public void setDropBehind(Boolean drop) throws IOException {
    stock.setDropBehind(drop);
  }

  @Override
  public void releaseBuffer(ByteBuffer buffer) {
    stock.releaseBuffer(buffer);
  }

  @Override
  public void unbuffer() {
    stock.unbuffer();
  }

  @Override
  public boolean hasCapability(String capability) {
    return stock.hasCapability(capability);
  }

  @Override
  public void close() throws IOException {
    try {
      stock.close();
    } finally {
      reads.close();
    }
  }

  @Override
  public String toString() {
    return stock.getWrappedStream().toString();
  }

  private void sequential(long began, int bytes) {
    long ended = System.nanoTime();
    if (bytes > 0) {
      try {
        reads.add(stock.getPos() - bytes, bytes, began, ended);
      } catch (IOException e) {
        reads.missed(e);
      }
    }
  }

  private void positional(long position, long began, int bytes) {
    long ended = System.nanoTime();
    if (bytes > 0) {
      reads.add(position, bytes, began, ended);
    }
  }
}
