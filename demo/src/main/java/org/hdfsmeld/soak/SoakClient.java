package org.hdfsmeld.soak;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** One client: creates, appends, reads back and deletes files of its own until told to end. */
final class SoakClient implements Runnable {
  private static final int MAX_FILES = 8;
  private static final int MAX_PART_BYTES = 6 << 20;
  private static final int MAX_PARTS = 3;
  private static final int BUFFER_BYTES = 64 << 10;

  /** A DataNode that restarts makes stock HDFS refuse some operations: they are tried again. */
  private static final int ATTEMPTS = 20;

  /** What all clients did. */
  record Totals(LongAdder operations, LongAdder bytes, LongAdder retries, List<String> errors) {}

  /** A file is its parts, and a part the pseudorandom bytes of a seed. */
  private record Part(long seed, int length) {}

  private record Content(Path path, List<Part> parts) {}

  private interface Operation {
    void run() throws IOException;
  }

  private final FileSystem fs;
  private final Path directory;
  private final Random random;
  private final Totals totals;
  private final long endNs;
  private final List<Content> files = new ArrayList<>();
  private int created;

  SoakClient(FileSystem fs, int number, Totals totals, long endNs) {
    this.fs = fs;
    this.directory = new Path("/client-" + number);
    this.random = new Random(number);
    this.totals = totals;
    this.endNs = endNs;
  }

  @Override
  public void run() {
    while (System.nanoTime() - endNs < 0) {
      int choice = random.nextInt(10);
      if (files.isEmpty() || (choice < 3 && files.size() < MAX_FILES)) {
        create();
      } else {
        int index = random.nextInt(files.size());
        if (choice < 5 && files.get(index).parts().size() < MAX_PARTS) {
          append(files.get(index));
        } else if (choice < 8) {
          read(files.get(index));
        } else {
          delete(index);
        }
      }
    }
    files.forEach(this::read);
  }

  private void create() {
    Path path = new Path(directory, "file-" + created++);
    Part part = part();
    attempt(
        "create " + path,
        () -> {
          try (FSDataOutputStream out = fs.create(path, true)) {
            write(out, part);
          }
          files.add(new Content(path, new ArrayList<>(List.of(part))));
        });
  }

  private void append(Content file) {
    Part part = part();
    long before = file.parts().stream().mapToLong(Part::length).sum();
    attempt(
        "append to " + file.path(),
        () -> {
          if (fs.getFileStatus(file.path()).getLen() > before) {
            // An attempt failed on the way: the file goes back to what is known of it.
            fs.truncate(file.path(), before);
            throw new IOException("cut to its length before the append; tried again");
          }
          try (FSDataOutputStream out = fs.append(file.path())) {
            write(out, part);
          }
          file.parts().add(part);
        });
  }

  private void read(Content file) {
    attempt(
        "read " + file.path(),
        () -> {
          try (FSDataInputStream in = fs.open(file.path())) {
            for (Part part : file.parts()) {
              verify(file, in, part);
            }
            if (in.read() >= 0) {
              throw new IOException("the file is longer than what was written");
            }
          }
        });
  }

  private void delete(int index) {
    Content file = files.remove(index);
    attempt("delete " + file.path(), () -> fs.delete(file.path(), false));
  }

  private Part part() {
    return new Part(random.nextLong(), 1 + random.nextInt(MAX_PART_BYTES));
  }

  private void write(FSDataOutputStream out, Part part) throws IOException {
    Random bytes = new Random(part.seed());
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int left = part.length(); left > 0; left -= BUFFER_BYTES) {
      bytes.nextBytes(buffer);
      out.write(buffer, 0, Math.min(left, BUFFER_BYTES));
    }
    totals.bytes().add(part.length());
  }

  private void verify(Content file, FSDataInputStream in, Part part) throws IOException {
    Random bytes = new Random(part.seed());
    byte[] expected = new byte[BUFFER_BYTES];
    byte[] actual = new byte[BUFFER_BYTES];
    for (int left = part.length(); left > 0; left -= BUFFER_BYTES) {
      int length = Math.min(left, BUFFER_BYTES);
      bytes.nextBytes(expected);
      try {
        in.readFully(actual, 0, length);
      } catch (EOFException e) {
        throw new IOException("the file is shorter than what was written", e);
      }
      if (!Arrays.equals(expected, 0, length, actual, 0, length)) {
        totals.errors().add("wrong bytes in " + file.path());
        return;
      }
    }
    totals.bytes().add(part.length());
  }

  private void attempt(String what, Operation operation) {
    IOException last = null;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        operation.run();
        totals.operations().increment();
        return;
      } catch (IOException e) {
        last = e;
        totals.retries().increment();
        pause();
      }
    }
    totals.errors().add(what + ": " + last);
  }

  private static void pause() {
    try {
      TimeUnit.SECONDS.sleep(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
