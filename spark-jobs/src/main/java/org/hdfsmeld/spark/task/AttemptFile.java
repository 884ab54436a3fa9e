package org.hdfsmeld.spark.task;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;

/**
 * A file that one attempt of a task writes under a hidden name of its own and that gets its name
 * when it is whole, so that neither a retry nor a speculative attempt meets a half of it.
 */
public final class AttemptFile implements Closeable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final FileSystem fs;
  private final Path path;
  private final Path attempt;
  private final OutputStream out;
  private boolean committed;

  /**
   * Opens it.
   *
   * @param blockBytes its HDFS block size
   */
  public AttemptFile(FileSystem fs, Path path, long blockBytes) throws IOException {
    this.fs = fs;
    this.path = path;
    this.attempt =
        new Path(path.getParent(), "." + path.getName() + "." + TaskContext.get().taskAttemptId());
    this.out = fs.create(attempt, true, BUFFER_BYTES, fs.getDefaultReplication(path), blockBytes);
  }

  /** Where the content is written; closed by {@link #commit} or {@link #close}. */
  public OutputStream out() {
    return out;
  }

  /** Gives the whole file its name, unless another attempt already has. */
  public void commit() throws IOException {
    out.close();
    committed = fs.rename(attempt, path);
    if (!committed && !fs.exists(path)) {
      throw new IOException(attempt + ": cannot be renamed to " + path);
    }
  }

  @Override
  public void close() throws IOException {
    out.close();
    if (!committed) {
      fs.delete(attempt, false);
    }
  }
}
