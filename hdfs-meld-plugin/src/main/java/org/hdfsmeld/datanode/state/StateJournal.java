package org.hdfsmeld.datanode.state;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Collection;
import java.util.function.Consumer;

/**
 * What became of blocks since a snapshot, as an append-only file: "MELDJRNL", a version (i32), and
 * records of a length (i32), a CRC-32C (i32) and the block as it then was. The last record of a
 * block counts. Version 1, release 0.1.0's, begins with the first record, and its blocks have no
 * kind. An empty file has no records.
 *
 * <p>Not made durable: after a loss of power the file ends early, which its checksums tell.
 */
final class StateJournal implements AutoCloseable {
  /** As the length of a record it is too large, so a reader of version 1 takes nothing for one. */
  private static final long MAGIC = 0x4D454C444A524E4CL;

  private static final int VERSION = 5;
  private static final int HEADER_BYTES = 12;
  private static final int RECORD_HEADER_BYTES = 8;

  /** A block of 128 TiB in slots of 1 GiB has a record of this size. */
  private static final int MAX_RECORD_BYTES = 2 << 20;

  private final OutputStream out;
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
  private final ByteArrayOutputStream one = new ByteArrayOutputStream();

  StateJournal(Path file) throws IOException {
    out = Channels.newOutputStream(VersionedFile.create(file));
    pending.writeBytes(ByteBuffer.allocate(HEADER_BYTES).putLong(MAGIC).putInt(VERSION).array());
  }

  /** Appends records; the bytes written. */
  long append(Collection<BlockRecord> records) throws IOException {
    DataOutputStream all = new DataOutputStream(pending);
    for (BlockRecord record : records) {
      one.reset();
      record.write(new DataOutputStream(one));
      byte[] bytes = one.toByteArray();
      all.writeInt(bytes.length);
      all.writeInt(VersionedFile.checksum(ByteBuffer.wrap(bytes)));
      all.write(bytes);
    }
    long written = pending.size();
    pending.writeTo(out);
    pending.reset();
    return written;
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  /**
   * Reads a journal up to its end or its first damaged record.
   *
   * @return whether all of it was whole
   * @throws IOException also when it is of a version that this plugin cannot read
   */
  static boolean replay(Path file, Consumer<BlockRecord> each) throws IOException {
    try (FileChannel channel = VersionedFile.open(file);
        DataInputStream in =
            new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)))) {
      long left = channel.size();
      int version = 1;
      in.mark(HEADER_BYTES);
      if (left >= HEADER_BYTES && in.readLong() == MAGIC) {
        version = in.readInt();
        VersionedFile.checkVersion(version, VERSION);
        left -= HEADER_BYTES;
      } else {
        in.reset();
      }
      while (left >= RECORD_HEADER_BYTES) {
        int length = in.readInt();
        int checksum = in.readInt();
        left -= RECORD_HEADER_BYTES + length;
        if (length <= 0 || length > MAX_RECORD_BYTES || left < 0) {
          return false;
        }
        ByteBuffer record = ByteBuffer.wrap(in.readNBytes(length));
        if (VersionedFile.checksum(record) != checksum) {
          return false;
        }
        DataInputStream fields = new DataInputStream(new ByteArrayInputStream(record.array()));
        each.accept(BlockRecord.read(fields, version == VERSION));
      }
      return left == 0;
    }
  }
}
