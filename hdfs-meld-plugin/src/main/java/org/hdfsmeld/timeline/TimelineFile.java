package org.hdfsmeld.timeline;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.hdfsmeld.record.RecordRing;

/** A timeline's file: lines of JSON, one object each, with times since the epoch. */
final class TimelineFile implements Closeable {
  static final int READ = 1;
  static final int REQUEST = 2;
  static final int WAIT = 3;

  private static final int VERSION = 1;
  private static final int KIND_BITS = 4;
  private static final int VOLUME_BITS = 16;

  /** As many as {@link Strings} has. */
  private static final int STRING_BITS = 12;

  private final OutputStream out;
  private final long zeroNs;

  /**
   * A file without lines.
   *
   * @param zeroNs nanoseconds since the epoch at 0 of {@link System#nanoTime}, which all times are
   *     of: the wall's clock may jump
   */
  TimelineFile(OutputStream out, long zeroNs) {
    this.out = out;
    this.zeroNs = zeroNs;
  }

  /** What a request or a wait is about, in one word. */
  static long kind(int kind, int volume) {
    return (long) volume << KIND_BITS | kind;
  }

  /** What a read is about, in one word. */
  static long kindOfRead(int volume, int pool, int client, int use) {
    long words = ((long) pool << STRING_BITS | client) << STRING_BITS | use;
    return words << VOLUME_BITS + KIND_BITS | kind(READ, volume);
  }

  void header(String datanode, long beginNs) throws IOException {
    line(
        "{\"meld_timeline\":%d,\"datanode\":%s,\"host\":%s,\"begin_ns\":%d}",
        VERSION, text(datanode), text(host()), zeroNs + beginNs);
  }

  void device(int number, TimelineDevice device, TimelineDevice.Recorded recorded)
      throws IOException {
    Path file = recorded.file();
    line(
        "{\"device\":{\"n\":%d,\"name\":%s,%s}}",
        number,
        text(device.name()),
        file != null && Files.exists(file)
            ? "\"records\":" + text(file.getFileName().toString())
            : "\"problem\":" + text(recorded.problem()));
    for (TimelineDevice.Clock at : recorded.clocks()) {
      line(
          "{\"clock\":{\"device\":%d,\"sim_ps\":%d,\"ns\":%d,\"dilation\":%s}}",
          number, at.simPs(), zeroNs + at.ns(), at.dilation());
    }
    for (TimelineDevice.Volume volume : device.timelineVolumes()) {
      line(
          "{\"volume\":{\"n\":%d,\"device\":%d,\"nsid\":%d}}",
          volume.number(), number, volume.nsid());
    }
  }

  /** Returns how many there are; the others had to make room. */
  long records(RecordRing records, Strings strings) throws IOException {
    long count = 0;
    for (long[] record = new long[RecordRing.WORDS]; records.poll(record); count++) {
      record(record, strings);
    }
    line("{\"lost\":{\"records\":%d}}", records.dropped());
    return count;
  }

  private void record(long[] record, Strings strings) throws IOException {
    long kind = record[0];
    long volume = kind >>> KIND_BITS & (1 << VOLUME_BITS) - 1;
    long begin = zeroNs + record[3];
    long end = zeroNs + record[4];
    String head = "\"reader\":" + record[1] + ",\"volume\":" + volume;
    switch ((int) kind & (1 << KIND_BITS) - 1) {
      case READ ->
          line(
              "{\"read\":{%s,\"pool\":%s,\"block\":%d,\"client\":%s,\"kind\":%s,"
                  + "\"begin_ns\":%d,\"end_ns\":%d,\"offset\":%d,\"bytes\":%d}}",
              head,
              text(string(strings, kind, 2)),
              record[2],
              text(string(strings, kind, 1)),
              text(string(strings, kind, 0)),
              begin,
              end,
              record[5],
              record[6]);
      case REQUEST ->
          line(
              "{\"request\":{%s,\"ticket\":%d,\"ns\":%d,\"start_byte\":%d,\"bytes\":%d}}",
              head, record[2], begin, record[5], record[6]);
      default ->
          line(
              "{\"wait\":{%s,\"ticket\":%d,\"begin_ns\":%d,\"end_ns\":%d}}",
              head, record[2], begin, end);
    }
  }

  private static String string(Strings strings, long kind, int place) {
    int shift = KIND_BITS + VOLUME_BITS + place * STRING_BITS;
    return strings.get((int) (kind >>> shift) & (1 << STRING_BITS) - 1);
  }

  private void line(String format, Object... arguments) throws IOException {
    String line = String.format(Locale.ROOT, format, arguments) + "\n";
    out.write(line.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
