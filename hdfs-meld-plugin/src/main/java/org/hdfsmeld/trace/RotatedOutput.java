package org.hdfsmeld.trace;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.record.RecordFiles;

/** Compressed text that goes on in another file when one is full; each begins with the header. */
final class RotatedOutput implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;

  private final RecordFiles files;
  private final TraceConfiguration config;
  private final String session;
  private final String header;

  private int number;
  private FastGzip file;
  private Writer text;

  /** Begins the first file, so that what is wrong with the folder shows before anything else. */
  RotatedOutput(RecordFiles files, TraceConfiguration config, Instant now, String header)
      throws IOException {
    this.files = files;
    this.config = config;
    this.session = files.session(now);
    this.header = header;
    next();
  }

  void write(CharSequence line) throws IOException {
    if (file.written() >= config.fileBytes()) {
      next();
    }
    text.append(line);
  }

  private void next() throws IOException {
    close();
    number++;
    file = new FastGzip(files.create(String.format("%s-%06d.csv.gz", session, number)));
    files.keep(config.maxFiles());
    text = new OutputStreamWriter(file, StandardCharsets.US_ASCII);
    text.write(header);
  }

  @Override
  public void close() throws IOException {
    if (text != null) {
      Writer finished = text;
      text = null;
      finished.close();
    }
  }

  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
      def.setLevel(Deflater.BEST_SPEED);
    }

    long written() {
      return def.getBytesWritten();
    }
  }
}
