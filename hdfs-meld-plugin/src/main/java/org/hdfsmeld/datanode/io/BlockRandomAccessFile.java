package org.hdfsmeld.datanode.io;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
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
  private final BlockReader reader;
  private final BlockWriter writer;

  BlockRandomAccessFile(MeldVolume volume, BlockKey key, File file, String mode)
      throws FileNotFoundException {
    super(file, mode);
    this.volume = volume;
    this.key = key;
    this.reader = new BlockReader(volume, key, BlockFile.of(file), false);
    this.writer = new BlockWriter(volume, key, file, false);
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
