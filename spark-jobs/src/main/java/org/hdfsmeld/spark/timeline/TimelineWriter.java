package org.hdfsmeld.spark.timeline;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the file by one thread. Who gives lines never waits: what does not fit is refused. Gzip'd
 * if the file's name ends in .gz; then it is whole only when closed.
 */
final class TimelineWriter {
  static final int QUEUE_CHUNKS = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(TimelineWriter.class);
  private static final long END_MS = 10_000;
  private static final String END = new String("end"); // Known by its identity.

  private final Path file;
  private final Writer out;
  private final BlockingQueue<String> chunks = new ArrayBlockingQueue<>(QUEUE_CHUNKS);
  private final Thread thread = new Thread(this::run, "hdfs-meld-timeline-writer");
  private final AtomicBoolean failed = new AtomicBoolean();
  private boolean begun;

  /** Opens the file, which is replaced if it exists. */
  TimelineWriter(Path file) throws IOException {
    this.file = file;
    OutputStream plain = Files.newOutputStream(file);
    boolean compressed = file.toString().endsWith(".gz");
    this.out =
        new BufferedWriter(
            new OutputStreamWriter(
                compressed ? new GZIPOutputStream(plain) : plain, StandardCharsets.UTF_8));
    thread.setDaemon(true);
  }

  /** Writes the first line, and then all others, also those given before. */
  synchronized void begin(String header) {
    if (!begun) {
      begun = true;
      append(header);
      thread.start();
    }
  }

  synchronized boolean hasBegun() {
    return begun;
  }

  /** Takes whole lines; false if there is no room. */
  boolean write(String lines) {
    boolean fits = chunks.offer(lines);
    if (!fits && failed.compareAndSet(false, true)) {
      LOG.warn("{}: lines come faster than they can be written; some are missing", file);
    }
    return fits;
  }

  /** Writes what is there and these lines, and closes. A file without its first line is deleted. */
  void close(String lastLines) {
    try {
      if (!hasBegun()) {
        out.close();
        Files.deleteIfExists(file);
      } else if (chunks.offer(lastLines, END_MS, TimeUnit.MILLISECONDS)
          && chunks.offer(END, END_MS, TimeUnit.MILLISECONDS)) {
        thread.join(END_MS);
      }
    } catch (IOException e) {
      failed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try (out) {
      String chunk = chunks.take();
      while (!isEnd(chunk)) {
        append(chunk);
        if (chunks.isEmpty()) {
          flush();
        }
        chunk = chunks.take();
      }
    } catch (IOException e) {
      failed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @SuppressWarnings("ReferenceEquality")
  private static boolean isEnd(String chunk) {
    return chunk == END;
  }

  private void append(String lines) {
    try {
      out.write(lines);
    } catch (IOException e) {
      failed(e);
    }
  }

  private void flush() {
    try {
      out.flush();
    } catch (IOException e) {
      failed(e);
    }
  }

  private void failed(IOException error) {
    if (failed.compareAndSet(false, true)) {
      LOG.error("{}: cannot be written: {}", file, error.toString());
    }
  }
}
