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

  /**
   * A request.
   *
   * @param pool block pool id
   * @param blockIds at most {@link #MAX_BLOCKS}; none to see whether there is an answer
   */
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
      out.writeLong(hint.fileId());
      out.writeLong(hint.directoryId());
      out.writeShort(hint.level());
    }
    // Last, so that an older plugin, which knows no lifetimes, reads what it knows.
    for (BlockHint hint : hints) {
      out.writeLong(hint.lifetimeGroup());
    }
  }

  /**
   * Reads the answer to a request for {@code blocks} blocks.
   *
   * @throws IOException when it is no such answer
   */
  public static List<BlockHint> readAnswer(int blocks, DataInputStream in) throws IOException {
    int count = count(in);
    if (count != blocks) {
      throw new IOException("answer for " + count + " blocks to a question for " + blocks);
    }
    List<BlockHint> read = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int code = in.readUnsignedByte();
      ReadPattern pattern = code < CODES.size() ? CODES.get(code) : ReadPattern.UNKNOWN;
      read.add(
          new BlockHint(
              pattern,
              Math.max(0, in.readLong()),
              in.readLong(),
              in.readLong(),
              Math.max(BlockHint.NOBODY, in.readShort())));
    }
    // An older NameNode's answer ends here.
    boolean hasGroups = in.available() >= Long.BYTES * count;
    List<BlockHint> hints = new ArrayList<>(count);
    for (BlockHint hint : read) {
      BlockHint whole = hasGroups ? hint.ofGroup(in.readLong()) : hint;
      hints.add(whole.equals(BlockHint.NONE) ? BlockHint.NONE : whole);
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
