package org.hdfsmeld.rpc;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The block trace of a DataNode.
 *
 * @param recording whether one is being recorded; the last of the files is then incomplete
 * @param records records in the files of this trace, or the last one
 * @param dropped records that were not written down
 * @param lastError why it ended by itself, or empty
 * @param files names of the trace files, the oldest first
 */
public record TraceStatus(
    boolean recording, long records, long dropped, String lastError, List<String> files) {
  /** Writes it. */
  public void write(DataOutput out) throws IOException {
    out.writeBoolean(recording);
    out.writeLong(records);
    out.writeLong(dropped);
    out.writeUTF(lastError);
    out.writeInt(files.size());
    for (String file : files) {
      out.writeUTF(file);
    }
  }

  /** Reads what {@link #write} wrote. */
  public static TraceStatus read(DataInput in) throws IOException {
    boolean recording = in.readBoolean();
    long records = in.readLong();
    long dropped = in.readLong();
    String lastError = in.readUTF();
    List<String> files = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      files.add(in.readUTF());
    }
    return new TraceStatus(recording, records, dropped, lastError, files);
  }
}
