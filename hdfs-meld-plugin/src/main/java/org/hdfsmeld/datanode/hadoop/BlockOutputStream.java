package org.hdfsmeld.datanode.hadoop;

import java.io.FileOutputStream;
import java.io.IOException;
import org.hdfsmeld.datanode.io.WriteStream;

/**
 * A block file's output stream that knows its block. Writes go to the file first and through the
 * stream that Hadoop's provider made.
 */
final class BlockOutputStream extends FileOutputStream {
  private static final long UNKNOWN = -1;

  private final FileOutputStream out;
  private final WriteStream writer;
  private long position = UNKNOWN;

  BlockOutputStream(FileOutputStream out, WriteStream writer) {
    super(MeldFileIoProvider.open(out::getFD));
    this.out = out;
    this.writer = writer;
  }

  @Override
  public void write(int b) throws IOException {
    long offset = position();
    out.write(b);
    written(offset, 1);
  }

  @Override
  public void write(byte[] b) throws IOException {
    write(b, 0, b.length);
  }

  @Override
  public void write(byte[] b, int off, int len) throws IOException {
    long offset = position();
    out.write(b, off, len);
    written(offset, len);
  }

  void synced() {
    writer.sync();
  }

  @Override
  public void close() throws IOException {
    writer.close();
    try {
      out.close();
    } finally {
      super.close();
    }
  }

  /** Where the next write goes. HDFS moves the channel before the first write only. */
  private long position() throws IOException {
    if (position == UNKNOWN) {
      position = Uninterruptibles.call(out.getChannel()::position);
    }
    return position;
  }

  private void written(long offset, int length) {
    position = offset + length;
    writer.write(offset, length);
  }
}
