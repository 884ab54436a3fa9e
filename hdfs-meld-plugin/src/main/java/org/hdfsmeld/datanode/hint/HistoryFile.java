package org.hdfsmeld.datanode.hint;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.hdfsmeld.datanode.state.VersionedFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A volume's {@link KindHistory} between two runs of the DataNode: a small file beside the volume's
 * {@code current} folder.
 *
 * <pre>
 * magic, version   8 + 4 bytes
 * kinds            see {@link KindHistory#write}
 * CRC-32C          of all before, 4 bytes
 * </pre>
 *
 * <p>It is replaced as a whole. When it cannot be read the history begins anew: it is an
 * optimisation, no data. So it does where its entries are by inode, in version 1: of which kinds
 * they are is not known there.
 */
final class HistoryFile {
  static final String NAME = "meld-read-history";

  private static final Logger LOG = LoggerFactory.getLogger(HistoryFile.class);
  private static final long MAGIC = 0x6D656C6448495354L;
  private static final int VERSION = 3;
  private static final int HEADER_BYTES = Long.BYTES + Integer.BYTES;
  private static final long MAX_BYTES = 1 << 28;

  private final Path file;

  HistoryFile(File volume) {
    this.file = volume.toPath().resolve(NAME);
  }

  /**
   * Reads the file, if there is one, into an empty history. Never throws; false when it is
   * unusable.
   */
  boolean load(KindHistory history) {
    try (FileChannel in = VersionedFile.open(file)) {
      if (in.size() > MAX_BYTES) {
        throw new IOException("it is larger than any that was written");
      }
      decode(Channels.newInputStream(in).readAllBytes(), history);
      return true;
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException | RuntimeException e) {
      history.clear();
      LOG.warn(
          "The read history {} is not used and begins anew: {}. Nothing needs to be done; the file"
              + " will be replaced.",
          file,
          e.getMessage());
      return false;
    }
  }

  /** Replaces the file. Never throws; false when that failed. */
  boolean save(KindHistory history) {
    try {
      byte[] bytes = encode(history);
      VersionedFile.replace(file, out -> Channels.newOutputStream(out).write(bytes));
      return true;
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("The read history {} cannot be saved: {}", file, e.toString());
      return false;
    }
  }

  static byte[] encode(KindHistory history) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeLong(MAGIC);
    out.writeInt(VERSION);
    history.write(out);
    out.writeInt(checksum(bytes.toByteArray(), bytes.size()));
    return bytes.toByteArray();
  }

  static void decode(byte[] bytes, KindHistory history) throws IOException {
    int length = bytes.length - Integer.BYTES;
    if (length < HEADER_BYTES) {
      throw new IOException("it is cut off");
    }
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes, 0, length));
    if (in.readLong() != MAGIC) {
      throw new IOException("it is no read history");
    }
    int version = in.readInt();
    VersionedFile.checkVersion(version, VERSION);
    if (checksum(bytes, length) != ByteBuffer.wrap(bytes).getInt(length)) {
      throw new IOException("its checksum is wrong");
    }
    if (version < VERSION) {
      LOG.warn(
          "A read history of version {} is by inodes, not by kinds of paths: it is left out, and the"
              + " history begins anew.",
          version);
      return;
    }
    history.read(in);
  }

  /** Of so many bytes from the beginning. */
  static int checksum(byte[] bytes, int length) {
    return VersionedFile.checksum(ByteBuffer.wrap(bytes, 0, length));
  }
}
