package org.hdfsmeld.rpc;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A block on the simulated device of a DataNode's volume, of no name where it is on none yet; the
 * profile has the block's reclaim unit handle, too. Of the pages that hold its data, buffered ones
 * have no layout yet. A kind that is not known is 0; what is known of it and of its parent is for
 * people.
 */
public record BlockLayout(
    String volume,
    String profile,
    String pattern,
    String source,
    String reason,
    long mappedPages,
    long bufferedPages,
    long meldedPages,
    long kind,
    long parentKind,
    String known) {

  /** In a word: {@code melded}, {@code normal}, {@code mixed}, or {@code none} where nothing is. */
  public String layout() {
    long onFlash = mappedPages - bufferedPages;
    if (onFlash == 0) {
      return mappedPages == 0 ? "none" : "buffered";
    }
    if (meldedPages == 0) {
      return "normal";
    }
    return meldedPages == onFlash ? "melded" : "mixed";
  }

  /** Share of the pages on flash that are melded, in percent. */
  public long meldedPercent() {
    long onFlash = mappedPages - bufferedPages;
    return onFlash == 0 ? 0 : Math.round(100.0 * meldedPages / onFlash);
  }

  /** Writes all but the kind. */
  public void write(DataOutput out) throws IOException {
    out.writeUTF(volume);
    out.writeUTF(profile);
    out.writeUTF(pattern);
    out.writeUTF(source);
    out.writeUTF(reason);
    out.writeLong(mappedPages);
    out.writeLong(bufferedPages);
    out.writeLong(meldedPages);
  }

  /** Writes the kind, which comes after what an older plugin reads. */
  public void writeKind(DataOutput out) throws IOException {
    out.writeLong(kind);
    out.writeLong(parentKind);
    out.writeUTF(known);
  }

  /** The same with the kind that {@link #writeKind} wrote. */
  BlockLayout readKind(DataInput in) throws IOException {
    return new BlockLayout(
        volume,
        profile,
        pattern,
        source,
        reason,
        mappedPages,
        bufferedPages,
        meldedPages,
        in.readLong(),
        in.readLong(),
        in.readUTF());
  }

  /** Reads all but the kind. */
  public static BlockLayout read(DataInput in) throws IOException {
    return new BlockLayout(
        in.readUTF(),
        in.readUTF(),
        in.readUTF(),
        in.readUTF(),
        in.readUTF(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        0,
        0,
        "");
  }
}
