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
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.hdfsmeld.datanode.config.MeldKeys;

/**
 * A device and the blocks on it at one time, as a file.
 *
 * <pre>
 *   "MELDSTAT" | version i32 | body length i64 | body CRC-32C i64 | body
 * </pre>
 *
 * <p>Numbers are big endian. The body is the device's name and profile, the bytes of a slot, the
 * namespaces, the block table, and the simulator's own snapshot, which has a checksum of its own.
 *
 * @param device a shared device's name; empty for a volume's own
 * @param profile the device's profile as TOML
 * @param slotBytes bytes of a slot of every namespace
 * @param image the simulator's snapshot
 */
public record StateSnapshot(
    String device,
    String profile,
    long slotBytes,
    List<Namespace> namespaces,
    List<BlockRecord> blocks,
    byte[] image) {
  private static final long MAGIC = 0x4D454C4453544154L;
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 28;

  /** Which namespace belonged to which volume. */
  public record Namespace(int nsid, int set, String storageId) {}

  /**
   * Writes to a temporary file, makes it durable, and puts it in place.
   *
   * @return its size in bytes
   * @throws IOException also when it would be larger than {@code maxBytes}
   */
  long write(Path file, long maxBytes) throws IOException {
    byte[] body = body();
    long size = HEADER_BYTES + (long) body.length;
    if (size > maxBytes) {
      throw new IOException(
          "it would have "
              + size
              + " bytes; raise "
              + MeldKeys.STATE_SNAPSHOT_MAX_BYTES
              + " to keep the state");
    }
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
    header.putLong(MAGIC).putInt(VERSION).putLong(body.length).putLong(checksum(body)).flip();
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    try {
      try (FileChannel out =
          FileChannel.open(
              temporary,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        writeFully(out, header);
        writeFully(out, ByteBuffer.wrap(body));
        out.force(true);
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
    try (FileChannel folder = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
      folder.force(true);
    }
    return size;
  }

  /**
   * Reads a file that {@link #write} wrote.
   *
   * @throws IOException when it is not that; says what is wrong
   */
  static StateSnapshot read(Path file, long maxBytes) throws IOException {
    if (Files.size(file) > maxBytes) {
      throw new IOException("it is larger than " + MeldKeys.STATE_SNAPSHOT_MAX_BYTES);
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
    if (bytes.remaining() < HEADER_BYTES || bytes.getLong() != MAGIC) {
      throw new IOException("it is no snapshot of a device's state");
    }
    int version = bytes.getInt();
    if (version != VERSION) {
      throw new IOException("it has version " + version + ", this plugin reads " + VERSION);
    }
    long length = bytes.getLong();
    long checksum = bytes.getLong();
    if (length != bytes.remaining()) {
      throw new IOException("its body has " + bytes.remaining() + " bytes instead of " + length);
    }
    byte[] body = new byte[bytes.remaining()];
    bytes.get(body);
    if (checksum != checksum(body)) {
      throw new IOException("its checksum is wrong");
    }
    return parse(body);
  }

  private byte[] body() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(image.length + 100 * blocks.size());
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeUTF(device);
    out.writeUTF(profile);
    out.writeLong(slotBytes);
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
    out.writeInt(image.length);
    out.write(image);
    return bytes.toByteArray();
  }

  private static StateSnapshot parse(byte[] body) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(body));
    String device = in.readUTF();
    String profile = in.readUTF();
    long slotBytes = in.readLong();
    List<Namespace> namespaces = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      namespaces.add(new Namespace(in.readInt(), in.readInt(), in.readUTF()));
    }
    List<BlockRecord> blocks = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      blocks.add(BlockRecord.read(in));
    }
    byte[] image = new byte[in.readInt()];
    in.readFully(image);
    return new StateSnapshot(device, profile, slotBytes, namespaces, blocks, image);
  }

  static void writeFully(FileChannel out, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      out.write(bytes);
    }
  }

  private static long checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length);
    return crc.getValue();
  }
}
