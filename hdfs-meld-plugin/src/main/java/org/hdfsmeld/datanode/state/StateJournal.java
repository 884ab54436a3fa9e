package org.hdfsmeld.datanode.state;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * What became of blocks since a snapshot, as an append-only file: records of a length (i32), a
 * CRC-32C (i32) and the block as it then was. The last record of a block counts.
 *
 * <p>Not made durable: after a loss of power the file ends early, which its checksums tell.
 */
final class StateJournal implements AutoCloseable {
  private static final int HEADER_BYTES = 8;

  /** A block of 128 TiB in slots of 1 GiB has a record of this size. */
  private static final int MAX_RECORD_BYTES = 2 << 20;

  private final FileChannel out;
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
  private final ByteArrayOutputStream one = new ByteArrayOutputStream();

  private StateJournal(FileChannel out) {
    this.out = out;
  }

  /** Begins an empty journal. */
  static StateJournal create(Path file) throws IOException {
    return new StateJournal(
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE));
  }

  /**
   * Appends records.
   *
   * @return bytes written
   */
  long append(Collection<BlockRecord> records) throws IOException {
    pending.reset();
    DataOutputStream all = new DataOutputStream(pending);
    for (BlockRecord record : records) {
      one.reset();
      record.write(new DataOutputStream(one));
      byte[] bytes = one.toByteArray();
      all.writeInt(bytes.length);
      all.writeInt(checksum(bytes));
      all.write(bytes);
    }
    StateSnapshot.writeFully(out, ByteBuffer.wrap(pending.toByteArray()));
    return pending.size();
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  /**
   * Reads a journal up to its end or its first damaged record.
   *
   * @return whether all of it was whole
   */
  static boolean replay(Path file, Consumer<BlockRecord> each) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
    while (bytes.remaining() >= HEADER_BYTES) {
      int length = bytes.getInt();
      int checksum = bytes.getInt();
      if (length <= 0 || length > MAX_RECORD_BYTES || length > bytes.remaining()) {
        return false;
      }
      byte[] record = new byte[length];
      bytes.get(record);
      if (checksum(record) != checksum) {
        return false;
      }
      try {
        each.accept(BlockRecord.read(new DataInputStream(new ByteArrayInputStream(record))));
      } catch (IOException e) {
        return false;
      }
    }
    return !bytes.hasRemaining();
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length);
    return (int) crc.getValue();
  }
}
