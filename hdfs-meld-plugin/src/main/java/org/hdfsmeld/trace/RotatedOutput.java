package org.hdfsmeld.trace;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.io.output.CountingOutputStream;
import org.hdfsmeld.record.RecordFiles;

/** Compressed text that goes on in another file when one is full; each begins with the header. */
final class RotatedOutput implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;

  private final RecordFiles files;
  private final int maxFiles;
  private final String session;
  private final String header;
  private final long fileBytes;

  private int number;
  private CountingOutputStream file;
  private Writer text;

  /**
   * Begins the first file, so that what is wrong with the folder shows before anything else.
   *
   * @param maxFiles most files; the oldest ones go when there are more
   * @param now when it is begun
   * @param fileBytes compressed bytes after which a file is full
   */
  RotatedOutput(RecordFiles files, int maxFiles, Instant now, String header, long fileBytes)
      throws IOException {
    this.files = files;
    this.maxFiles = maxFiles;
    this.session = files.session(now);
    this.header = header;
    this.fileBytes = fileBytes;
    next();
  }

  void write(CharSequence line) throws IOException {
    if (file.getByteCount() >= fileBytes) {
      next();
    }
    text.append(line);
  }

  private void next() throws IOException {
    close();
    number++;
    file = new CountingOutputStream(files.create(String.format("%s-%06d.csv.gz", session, number)));
    files.keep(maxFiles);
    text = new OutputStreamWriter(new FastGzip(file), StandardCharsets.US_ASCII);
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
    FastGzip(java.io.OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }
}
