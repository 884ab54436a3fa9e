package org.hdfsmeld.datanode.sink;

import com.sun.jna.LastErrorException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Linux how long the data of a block's file is expected to live, which a device with streams
 * uses to keep data together that dies together ({@code F_SET_RW_HINT}, fcntl(2)).
 *
 * <p>A lifetime is not a read pattern; HDFS has no better knowledge of it. What is taken for it: a
 * block that is read sequentially belongs to a file that is written once and dies as a whole, late
 * ({@link #EXTREME}); one that is read at random, to a store that rewrites its files as it compacts
 * them ({@link #MEDIUM}). These two F2FS tells apart, and not LONG from MEDIUM. Of all others
 * nothing is said, and the file is left alone.
 *
 * <p>The hint belongs to the inode: it is set through a descriptor of its own, and lasts when the
 * block is finalized. Some kernels and file systems refuse it, and some take it and forget it, so
 * it is read back, and only what was found again counts as set.
 */
public final class WriteLifetimeSink {
  private static final Logger LOG = LoggerFactory.getLogger(WriteLifetimeSink.class);
  static final long MEDIUM = 3;
  static final long EXTREME = 5;
  private static final long UNKNOWN = 0;

  private final String volume;
  private final Counters<VolumeCounter> counters;
  private final SimFailures failures;
  private final boolean isEffective;

  /** Of the volume in this folder. The log says, once, whether hints do anything there. */
  public WriteLifetimeSink(String volume, Counters<VolumeCounter> counters, SimFailures failures) {
    this.volume = volume;
    this.counters = counters;
    this.failures = failures;
    HintReach reach = HintReach.of(Path.of(volume));
    this.isEffective = reach.isEffective();
    LOG.info(
        "Volume {}: write-lifetime hints {}: {}",
        volume,
        isEffective ? "are effective" : "have no effect",
        reach.text());
  }

  /** Data of a block is written to its file as decided. Never throws, and changes no byte. */
  public void apply(HintDecision decision, File file) {
    long hint = lifetime(decision.pattern());
    if (hint == UNKNOWN) {
      return;
    }
    try {
      if (LibC.setWriteLifetime(file, hint) == hint) {
        counters.increment(VolumeCounter.LIFETIME_HINTS);
        if (isEffective) {
          counters.increment(VolumeCounter.LIFETIME_HINTS_EFFECTIVE);
        }
      } else {
        refused("the hint did not last", null);
      }
    } catch (LastErrorException | LinkageError e) {
      refused(e.getMessage(), e);
    }
  }

  private void refused(String reason, Throwable e) {
    counters.increment(VolumeCounter.LIFETIME_HINTS_REFUSED);
    failures.lifetimeRefused(volume, reason, e);
  }

  /**
   * Sets the hints of both classes on files of its own in a folder.
   *
   * @return whether both were found again
   */
  public static boolean isKept(Path folder) throws IOException {
    Path file = Files.createTempFile(folder, "meld-placement-", "");
    try {
      return LibC.setWriteLifetime(file.toFile(), EXTREME) == EXTREME
          && LibC.setWriteLifetime(file.toFile(), MEDIUM) == MEDIUM;
    } catch (LastErrorException | LinkageError e) {
      return false;
    } finally {
      Files.delete(file);
    }
  }

  private static long lifetime(ReadPattern pattern) {
    return switch (pattern) {
      case SEQUENTIAL -> EXTREME;
      case RANDOM -> MEDIUM;
      case NONE, AUTO, UNKNOWN -> UNKNOWN;
    };
  }
}
