package org.hdfsmeld.datanode.hadoop;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.hdfsmeld.datanode.io.ReadStream;
import org.hdfsmeld.datanode.io.StreamUser;
import org.hdfsmeld.datanode.io.WriteStream;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;

/**
 * A block file opened for update: HDFS truncates through it and reads the last chunk again. Happens
 * under the dataset's locks, so nothing here waits for the device.
 */
final class BlockRandomAccessFile extends RandomAccessFile {
  private final MeldVolume volume;
  private final BlockKey key;
  private final ReadStream reader;
  private final WriteStream writer;

  BlockRandomAccessFile(MeldVolume volume, BlockKey key, File file, String mode, StreamUser user)
      throws FileNotFoundException {
    super(file, mode);
    this.volume = volume;
    this.key = key;
    this.reader = new ReadStream(volume, key, BlockFile.of(file), false, user);
    this.writer = new WriteStream(volume, key, file, false, user);
  }

  @Override
  public void setLength(long newLength) throws IOException {
    super.setLength(newLength);
    volume.truncated(key, newLength);
  }

  @Override
  public int read() throws IOException {
    long offset = getFilePointer();
    int value = super.read();
    reader.consume(offset, value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public int read(byte[] b) throws IOException {
    return read(b, 0, b.length);
  }

  @Override
  public int read(byte[] b, int off, int len) throws IOException {
    long offset = getFilePointer();
    int count = super.read(b, off, len);
    reader.consume(offset, count);
    return count;
  }

  @Override
  public void write(int b) throws IOException {
    long offset = getFilePointer();
    super.write(b);
    writer.write(offset, 1);
  }

  @Override
  public void write(byte[] b) throws IOException {
    write(b, 0, b.length);
  }

  @Override
  public void write(byte[] b, int off, int len) throws IOException {
    long offset = getFilePointer();
    super.write(b, off, len);
    writer.write(offset, len);
  }

  @Override
  public void close() throws IOException {
    reader.close();
    writer.close();
    super.close();
  }
}
