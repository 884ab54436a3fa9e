package org.hdfsmeld.datanode.state;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.PersistentEnum;
import org.hdfsmeld.model.ReadPattern;

/**
 * Where a block lay on the device at one time: what the journal and the block table consist of. The
 * device held {@code mapped} bytes from its start, and nothing past {@code reach}; without slots it
 * is gone. The hint of one that was read has neither pattern nor expected bytes; {@code bornAs} is
 * its kind when it began, 0 where that is not known.
 */
public record BlockRecord(
    int nsid,
    BlockKey key,
    long mapped,
    long reach,
    long[] slots,
    HintDecision decision,
    BlockHint hint,
    long bornAs) {
  private static final int MAX_SLOTS = 1 << 16;

  /** The same of a block that is to be laid out anew where it lay. */
  public BlockRecord withoutData() {
    return new BlockRecord(nsid, key, 0, reach, slots, decision, hint, bornAs);
  }

  public boolean isGone() {
    return slots.length == 0;
  }

  void write(DataOutput out) throws IOException {
    out.writeInt(nsid);
    out.writeUTF(key.pool());
    out.writeLong(key.id());
    out.writeLong(mapped);
    out.writeLong(reach);
    out.writeInt(slots.length);
    for (long slot : slots) {
      out.writeLong(slot);
    }
    out.writeByte(decision.pattern().code());
    out.writeByte(decision.source().code());
    out.writeUTF(decision.reason());
    out.writeLong(hint.kind());
    out.writeLong(hint.directoryId());
    out.writeLong(hint.parentKind());
    out.writeLong(hint.bornMs());
    out.writeLong(bornAs);
  }

  /** Reads what {@link #write} wrote, or release 0.1.0, which knew neither kinds nor births. */
  static BlockRecord read(DataInput in, boolean whole) throws IOException {
    int nsid = in.readInt();
    BlockKey key = new BlockKey(in.readUTF(), in.readLong());
    long mapped = in.readLong();
    long reach = in.readLong();
    int count = in.readInt();
    if (count < 0 || count > MAX_SLOTS) {
      throw new IOException("a block with " + count + " slots");
    }
    long[] slots = new long[count];
    for (int i = 0; i < count; i++) {
      slots[i] = in.readLong();
    }
    ReadPattern pattern = PersistentEnum.of(ReadPattern.values(), in.readByte());
    HintDecision.Source source = PersistentEnum.of(HintDecision.Source.values(), in.readByte());
    HintDecision decision = new HintDecision(pattern, source, in.readUTF());
    if (!whole) {
      BlockHint unknown = new BlockHint(ReadPattern.UNKNOWN, 0, 0, 0, BlockHint.NOBODY);
      return new BlockRecord(nsid, key, mapped, reach, slots, decision, unknown, 0);
    }
    long kind = in.readLong();
    long directory = in.readLong();
    long parent = in.readLong();
    long bornMs = in.readLong();
    BlockHint hint =
        new BlockHint(ReadPattern.UNKNOWN, 0, kind, parent, BlockHint.NOBODY, directory, bornMs);
    return new BlockRecord(nsid, key, mapped, reach, slots, decision, hint, in.readLong());
  }
}
