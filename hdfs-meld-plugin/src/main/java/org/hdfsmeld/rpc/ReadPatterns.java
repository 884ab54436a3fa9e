package org.hdfsmeld.rpc;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.ReadPattern;

/** The encoding of version 1 of {@link ReadPatternProtocolPB}. */
public final class ReadPatterns {
  public static final int MAX_BLOCKS = 512;

  // On the wire; the order of the enum is not.
  private static final List<ReadPattern> CODES =
      List.of(
          ReadPattern.UNKNOWN,
          ReadPattern.SEQUENTIAL,
          ReadPattern.RANDOM,
          ReadPattern.NONE,
          ReadPattern.AUTO);

  /** A request for at most {@link #MAX_BLOCKS}; for none to see whether there is an answer. */
  public record Question(String pool, long[] blockIds) {}

  /** The block pool asked about is another nameservice's. */
  public static final class NotMyPoolException extends IOException {
    private static final long serialVersionUID = 1L;

    public NotMyPoolException(String message) {
      super(message);
    }
  }

  private ReadPatterns() {}

  public static void writeQuestion(Question question, DataOutput out) throws IOException {
    out.writeUTF(question.pool());
    out.writeShort(question.blockIds().length);
    for (long id : question.blockIds()) {
      out.writeLong(id);
    }
  }

  public static Question readQuestion(DataInput in) throws IOException {
    String pool = in.readUTF();
    long[] ids = new long[count(in)];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = in.readLong();
    }
    return new Question(pool, ids);
  }

  /** Writes the answer to a request, block by block. */
  public static void writeAnswer(List<BlockHint> hints, DataOutput out) throws IOException {
    out.writeShort(hints.size());
    for (BlockHint hint : hints) {
      out.writeByte(CODES.indexOf(hint.pattern()));
      out.writeLong(hint.expectedBytes());
      out.writeLong(hint.kind());
      out.writeLong(hint.directoryId());
      out.writeShort(hint.level());
    }
    // Older plugins take a kind for a file, and here for a group of those that live as long.
    for (BlockHint hint : hints) {
      out.writeLong(hint.kind());
    }
    // Last, so that they read what they know.
    for (BlockHint hint : hints) {
      out.writeLong(hint.parentKind());
      out.writeLong(hint.bornMs());
    }
  }

  /** Reads the answer to a request for {@code blocks} blocks; throws when it is none. */
  public static List<BlockHint> readAnswer(int blocks, DataInputStream in) throws IOException {
    int count = count(in);
    if (count != blocks) {
      throw new IOException("answer for " + count + " blocks to a question for " + blocks);
    }
    List<BlockHint> read = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int code = in.readUnsignedByte();
      ReadPattern pattern = code < CODES.size() ? CODES.get(code) : ReadPattern.UNKNOWN;
      long bytes = Math.max(0, in.readLong());
      long kind = in.readLong();
      long directory = in.readLong();
      int level = Math.max(BlockHint.NOBODY, in.readShort());
      // To an older NameNode each file and each directory is a kind.
      read.add(new BlockHint(pattern, bytes, kind, directory, level, directory, 0));
    }
    if (in.available() < 3 * Long.BYTES * count) {
      return read;
    }
    in.skipNBytes((long) Long.BYTES * count);
    List<BlockHint> hints = new ArrayList<>(count);
    for (BlockHint hint : read) {
      long parentKind = in.readLong();
      hints.add(
          new BlockHint(
              hint.pattern(),
              hint.expectedBytes(),
              hint.kind(),
              parentKind,
              hint.level(),
              hint.directoryId(),
              in.readLong()));
    }
    return hints;
  }

  private static int count(DataInput in) throws IOException {
    int count = in.readUnsignedShort();
    if (count > MAX_BLOCKS) {
      throw new IOException(count + " blocks in one message; at most " + MAX_BLOCKS);
    }
    return count;
  }
}
