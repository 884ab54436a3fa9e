package org.hdfsmeld.datanode.state;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;
import org.hdfsmeld.datanode.config.MeldKeys;

/**
 * A device and the blocks on it at one time, as a file.
 *
 * <pre>
 *   "MELDSTAT" | version i32 | body length i64 | body CRC-32C i64 | body
 * </pre>
 *
 * <p>Numbers are big endian. The body is the device's name and profile, the bytes of a slot, the
 * device's past, the namespaces, the block table, and the simulator's own snapshot, which has a
 * checksum of its own. In version 1, release 0.1.0's, a block has no kind, and there is no past.
 *
 * @param device a shared device's name; empty for a volume's own
 * @param profile the device's profile as TOML
 * @param slotBytes bytes of a slot of every namespace
 * @param past what the device had been through before it had blocks, as the configuration has it;
 *     empty where that is not known
 * @param image the simulator's snapshot, outside of the Java heap
 */
public record StateSnapshot(
    String device,
    String profile,
    long slotBytes,
    String past,
    List<Namespace> namespaces,
    List<BlockRecord> blocks,
    ByteBuffer image) {
  private static final long MAGIC = 0x4D454C4453544154L;
  private static final int VERSION = 4;
  private static final int HEADER_BYTES = 28;
  private static final int BUFFER_BYTES = 64 << 10;

  public record Namespace(int nsid, int set, String storageId) {}

  /** Puts it in a file, unless that would be larger than {@code maxBytes}, which is thrown. */
  void write(Path file, long maxBytes) throws IOException {
    VersionedFile.replace(
        file,
        out -> {
          OutputStream stream = Channels.newOutputStream(out);
          out.position(HEADER_BYTES);
          CRC32C checksum = new CRC32C();
          writeTables(new CheckedOutputStream(stream, checksum));
          long size = out.position() + image.remaining();
          checkSize(size, maxBytes);
          checksum.update(image.duplicate());
          for (ByteBuffer left = image.duplicate(); left.hasRemaining(); ) {
            out.write(left);
          }
          out.position(0);
          DataOutputStream header = new DataOutputStream(stream);
          header.writeLong(MAGIC);
          header.writeInt(VERSION);
          header.writeLong(size - HEADER_BYTES);
          header.writeLong(checksum.getValue());
        });
  }

  /** Throws when a file or a part of it is larger than {@code maxBytes}. */
  static void checkSize(long size, long maxBytes) throws IOException {
    if (size > maxBytes) {
      throw new IOException(
          "it has " + size + " bytes; raise " + MeldKeys.STATE_SNAPSHOT_MAX_BYTES + " to keep it");
    }
  }

  /** Reads a file that {@link #write} wrote; what is thrown says what is wrong with it. */
  static StateSnapshot read(Path file, long maxBytes) throws IOException {
    try (FileChannel channel = VersionedFile.open(file)) {
      checkSize(channel.size(), maxBytes);
      InputStream in = Channels.newInputStream(channel);
      DataInputStream header = new DataInputStream(in);
      if (channel.size() < HEADER_BYTES || header.readLong() != MAGIC) {
        throw new IOException("it is no snapshot of a device's state");
      }
      int version = header.readInt();
      VersionedFile.checkVersion(version, VERSION);
      long length = header.readLong();
      long left = channel.size() - HEADER_BYTES;
      if (length != left) {
        throw new IOException("its body has " + left + " bytes instead of " + length);
      }
      long checksum = header.readLong();
      CheckedInputStream body = new CheckedInputStream(in, new CRC32C());
      body.transferTo(OutputStream.nullOutputStream());
      if (checksum != body.getChecksum().getValue()) {
        throw new IOException("its checksum is wrong");
      }
      channel.position(HEADER_BYTES);
      return parse(new DataInputStream(new BufferedInputStream(in)), channel, version == VERSION);
    }
  }

  private void writeTables(OutputStream to) throws IOException {
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(to, BUFFER_BYTES));
    out.writeUTF(device);
    out.writeUTF(profile);
    out.writeLong(slotBytes);
    out.writeUTF(past);
    out.writeInt(namespaces.size());
    for (Namespace namespace : namespaces) {
      out.writeInt(namespace.nsid());
      out.writeInt(namespace.set());
      out.writeUTF(namespace.storageId());
    }
    out.writeInt(blocks.size());
    for (BlockRecord block : blocks) {
      block.write(out);
    }
    out.writeInt(image.remaining());
    out.flush();
  }

  private static StateSnapshot parse(DataInputStream in, FileChannel file, boolean whole)
      throws IOException {
    String device = in.readUTF();
    String profile = in.readUTF();
    long slotBytes = in.readLong();
    String past = whole ? in.readUTF() : "";
    List<Namespace> namespaces = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      namespaces.add(new Namespace(in.readInt(), in.readInt(), in.readUTF()));
    }
    List<BlockRecord> blocks = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      blocks.add(BlockRecord.read(in, whole));
    }
    int length = in.readInt();
    // It is the end of the file. The stream has read ahead.
    file.position(file.size() - length);
    ByteBuffer image = ByteBuffer.allocateDirect(length);
    while (image.hasRemaining() && file.read(image) >= 0) {}
    return new StateSnapshot(device, profile, slotBytes, past, namespaces, blocks, image.flip());
  }
}
