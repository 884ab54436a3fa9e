package org.hdfsmeld.rpc;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A DataNode's volumes, and what it counts of its questions to the NameNodes. */
public record DatanodeReport(List<Volume> volumes, Map<String, Long> hints) {
  private static final int MAX_VOLUMES = 10_000;
  private static final int MAX_COUNTERS = 10_000;

  /** A volume; the profile says what the device had been through before. */
  public record Volume(
      String volume,
      String profile,
      String mode,
      boolean healthy,
      String lastError,
      Map<String, Long> counters) {}

  public void write(DataOutput out) throws IOException {
    out.writeInt(volumes.size());
    for (Volume volume : volumes) {
      out.writeUTF(volume.volume());
      out.writeUTF(volume.profile());
      out.writeUTF(volume.mode());
      out.writeBoolean(volume.healthy());
      out.writeUTF(volume.lastError());
      writeCounters(volume.counters(), out);
    }
    writeCounters(hints, out);
  }

  public static DatanodeReport read(DataInput in) throws IOException {
    List<Volume> volumes = new ArrayList<>();
    for (int left = MeldRpc.count(in, MAX_VOLUMES, "volumes"); left > 0; left--) {
      volumes.add(
          new Volume(
              in.readUTF(),
              in.readUTF(),
              in.readUTF(),
              in.readBoolean(),
              in.readUTF(),
              readCounters(in)));
    }
    return new DatanodeReport(volumes, readCounters(in));
  }

  private static void writeCounters(Map<String, Long> counters, DataOutput out) throws IOException {
    out.writeInt(counters.size());
    for (Map.Entry<String, Long> counter : counters.entrySet()) {
      out.writeUTF(counter.getKey());
      out.writeLong(counter.getValue());
    }
  }

  private static Map<String, Long> readCounters(DataInput in) throws IOException {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (int left = MeldRpc.count(in, MAX_COUNTERS, "counters"); left > 0; left--) {
      counters.put(in.readUTF(), in.readLong());
    }
    return counters;
  }
}
