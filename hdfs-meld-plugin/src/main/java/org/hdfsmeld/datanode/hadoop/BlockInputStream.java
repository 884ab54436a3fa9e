package org.hdfsmeld.datanode.hadoop;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import org.hdfsmeld.datanode.io.ReadStream;

/**
 * A block file's input stream that knows its block.
 *
 * <p>Still a {@link FileInputStream} over the same descriptor, because HDFS sends blocks without
 * copying them only from those. Reads go through the stream that Hadoop's provider made, so its
 * profiling and fault injection see them.
 */
final class BlockInputStream extends FileInputStream {
  private static final long UNKNOWN = -1;

  private final FileInputStream in;
  private final FileDescriptor descriptor;
  private final ReadStream reader;
  private BlockFileChannel channel;
  private long position = UNKNOWN;

  BlockInputStream(FileInputStream in, ReadStream reader) {
    super(MeldFileIoProvider.open(in::getFD));
    this.in = in;
    this.descriptor = MeldFileIoProvider.open(in::getFD);
    this.reader = reader;
  }

  /** If this is the descriptor's stream, it was opened for more than a few packets. */
  void longRead(FileDescriptor of) {
    if (descriptor == of) {
      reader.longRead();
    }
  }

  @Override
  public int read() throws IOException {
    long offset = position();
    int value = in.read();
    consumed(offset, value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public int read(byte[] b) throws IOException {
    return read(b, 0, b.length);
  }

  @Override
  public int read(byte[] b, int off, int len) throws IOException {
    long offset = position();
    int count = in.read(b, off, len);
    consumed(offset, count);
    return count;
  }

  @Override
  public long skip(long n) throws IOException {
    position = UNKNOWN;
    return in.skip(n);
  }

  @Override
  public int available() throws IOException {
    return in.available();
  }

  @Override
  public synchronized FileChannel getChannel() {
    if (channel == null) {
      channel = new BlockFileChannel(in.getChannel(), reader, () -> position = UNKNOWN);
    }
    return channel;
  }

  @Override
  public void close() throws IOException {
    reader.close();
    try {
      in.close();
    } finally {
      super.close();
    }
  }

  private long position() throws IOException {
    if (position == UNKNOWN) {
      position = Uninterruptibles.call(in.getChannel()::position);
    }
    return position;
  }

  private void consumed(long offset, int count) {
    if (count > 0) {
      position = offset + count;
      reader.consume(offset, count);
    }
  }
}
