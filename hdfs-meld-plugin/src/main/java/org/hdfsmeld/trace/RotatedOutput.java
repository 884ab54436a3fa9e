package org.hdfsmeld.trace;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** Compressed output that goes on in another file when one is full; each begins with the header. */
final class RotatedOutput implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;

  private final TraceFiles files;
  private final String session;
  private final byte[] header;
  private final long fileBytes;

  private int number;
  private Counted file;
  private OutputStream compressed;

  /**
   * No file yet.
   *
   * @param fileBytes compressed bytes after which a file is full
   */
  RotatedOutput(TraceFiles files, String session, byte[] header, long fileBytes) {
    this.files = files;
    this.session = session;
    this.header = header.clone();
    this.fileBytes = fileBytes;
  }

  /** Begins the first file, so that what is wrong with the folder shows before anything else. */
  void open() throws IOException {
    next();
  }

  void write(TraceLine line) throws IOException {
    if (file.written >= fileBytes) {
      next();
    }
    compressed.write(line.bytes, 0, line.length);
  }

  private void next() throws IOException {
    close();
    number++;
    file = new Counted(files.create(session, number));
    compressed = new FastGzip(file);
    compressed.write(header);
  }

  @Override
  public void close() throws IOException {
    if (compressed != null) {
      OutputStream finished = compressed;
      compressed = null;
      finished.close();
    }
  }

  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }

  /** Knows how many bytes went through it. */
  private static final class Counted extends FilterOutputStream {
    private long written;

    Counted(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      out.write(b);
      written++;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      out.write(bytes, offset, length);
      written += length;
    }
  }
}
