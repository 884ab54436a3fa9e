package org.hdfsmeld.timeline;

import java.nio.file.Path;
import java.util.List;

/** A device whose timeline can be recorded. */
public interface TimelineDevice {
  /** A volume on it, by the number that records of readers have. */
  record Volume(int number, int nsid) {}

  /**
   * The device's time, in picoseconds, at a time of {@link System#nanoTime}; from there on it is so
   * many times slower, 0 where it does not follow the host's.
   */
  record Clock(long simPs, long ns, double dilation) {}

  /** What was recorded; without a file, the problem says why. */
  record Recorded(List<Clock> clocks, Path file, String problem) {}

  /** Its name in the configuration, or the folder of its only volume. */
  String name();

  List<Volume> timelineVolumes();

  /** Begins to keep what it does, in at most so many bytes. */
  void startTimeline(long bytes);

  /** Ends that, and writes it to a new file. */
  Recorded stopTimeline(Path file);
}
