package org.hdfsmeld.rpc;

import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The block trace of a DataNode, or its timeline, with its files, the oldest first. While a trace
 * is recorded its last file is incomplete.
 */
public record RecordingStatus(
    boolean recording, long records, long dropped, String lastError, List<File> files) {
  /** More than the DataNode's key for it allows. */
  private static final int MAX_FILES = 20_000;

  /** What a file may have of which a DataNode says no size: one of an earlier version. */
  private static final long UNSAID_BYTES = 1L << 32;

  /** A file; it may grow while it is recorded. */
  public record File(String name, long bytes) {}

  /** Writes it. Sizes come last: an earlier version reads as far as it knows. */
  public void write(DataOutput out) throws IOException {
    out.writeBoolean(recording);
    out.writeLong(records);
    out.writeLong(dropped);
    out.writeUTF(lastError);
    out.writeInt(files.size());
    for (File file : files) {
      out.writeUTF(file.name());
    }
    for (File file : files) {
      out.writeLong(file.bytes());
    }
  }

  public static RecordingStatus read(DataInputStream in) throws IOException {
    boolean recording = in.readBoolean();
    long records = in.readLong();
    long dropped = in.readLong();
    String lastError = in.readUTF();
    List<String> names = new ArrayList<>();
    for (int left = MeldRpc.count(in, MAX_FILES, "files"); left > 0; left--) {
      names.add(in.readUTF());
    }
    List<File> files = new ArrayList<>();
    for (String name : names) {
      files.add(new File(name, in.available() > 0 ? in.readLong() : UNSAID_BYTES));
    }
    return new RecordingStatus(recording, records, dropped, lastError, files);
  }
}
