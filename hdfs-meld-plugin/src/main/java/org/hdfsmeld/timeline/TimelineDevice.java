package org.hdfsmeld.timeline;

import java.nio.file.Path;
import java.util.List;

/** A device whose timeline can be recorded. */
public interface TimelineDevice {
  /**
   * A volume on it.
   *
   * @param number as records of readers have it
   * @param nsid its namespace
   */
  record Volume(int number, int nsid) {}

  /**
   * The device's time at a time of {@link System#nanoTime}, and how it went on.
   *
   * @param simPs its time, in picoseconds
   * @param ns the host's time
   * @param dilation so many times slower than the host's; 0 where it does not follow the host's
   */
  record Clock(long simPs, long ns, double dilation) {}

  /**
   * What was recorded.
   *
   * @param clocks in the order of time
   * @param file what the device did, null where there is none
   * @param problem why there is none, or empty
   */
  record Recorded(List<Clock> clocks, Path file, String problem) {}

  /** Its name in the configuration, or the folder of its only volume. */
  String name();

  List<Volume> timelineVolumes();

  /** Begins to keep what it does, in at most so many bytes. */
  void startTimeline(long bytes);

  /** Ends that, and writes it to a new file. */
  Recorded stopTimeline(Path file);
}
