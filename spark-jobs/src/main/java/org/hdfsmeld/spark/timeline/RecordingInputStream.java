package org.hdfsmeld.spark.timeline;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.apache.hadoop.crypto.CryptoInputStream;
import org.apache.hadoop.hdfs.DFSInputStream;
import org.apache.hadoop.hdfs.ReadStatistics;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/** What stock HDFS opens, to whoever casts it or looks inside, with its reads recorded. */
final class RecordingInputStream extends HdfsDataInputStream {
  private final HdfsDataInputStream stock;

  RecordingInputStream(HdfsDataInputStream stock, StreamReads reads) {
    super(source(stock));
    this.stock = stock;
    // Of DataInputStream's reads, which are final, only this can be told.
    this.in = new RecordedInput(stock, reads);
  }

  private static DFSInputStream source(HdfsDataInputStream stock) {
    InputStream wrapped = stock.getWrappedStream();
    return (DFSInputStream)
        (wrapped instanceof CryptoInputStream crypto ? crypto.getWrappedStream() : wrapped);
  }

  /** The stream inside stock HDFS's, whose reads are not recorded. */
  @Override
  public InputStream getWrappedStream() {
    return stock.getWrappedStream();
  }

  @Override
  public DatanodeInfo getCurrentDatanode() {
    return stock.getCurrentDatanode();
  }

  @Override
  public ExtendedBlock getCurrentBlock() {
    return stock.getCurrentBlock();
  }

  @Override
  public List<LocatedBlock> getAllBlocks() throws IOException {
    return stock.getAllBlocks();
  }

  @Override
  public long getVisibleLength() {
    return stock.getVisibleLength();
  }

  @Override
  public ReadStatistics getReadStatistics() {
    return stock.getReadStatistics();
  }

  @Override
  public void clearReadStatistics() {
    stock.clearReadStatistics();
  }
}
