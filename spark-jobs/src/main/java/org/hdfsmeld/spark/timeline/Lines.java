package org.hdfsmeld.spark.timeline;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import java.util.Map;

/** The lines of a timeline's file: JSON, each ended by a newline. */
final class Lines {
  private static final int VERSION = 1;
  private static final ObjectMapper MAPPER =
      new ObjectMapper().setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE);

  private Lines() {}

  private record Header(int meldSparkTimeline, String application, String name) {}

  /** One attempt of a stage. */
  record Stage(int id, int attempt, String name, long beginNs, long endNs) {}

  /** One attempt of a task; its id is unique in the application. */
  record Task(
      long id,
      int stage,
      int stageAttempt,
      int index,
      int attempt,
      String host,
      String executor,
      long beginNs,
      long endNs,
      boolean successful) {}

  private record Dropped(long reads) {}

  /** The first line. */
  static String header(String application, String name) {
    return line(new Header(VERSION, application, name));
  }

  static String of(Stage stage) {
    return line(Map.of("stage", stage));
  }

  static String of(Task task) {
    return line(Map.of("task", task));
  }

  static String of(BlockRead read) {
    return line(Map.of("read", read));
  }

  /** How many reads are missing. */
  static String dropped(long reads) {
    return line(Map.of("dropped", new Dropped(reads)));
  }

  private static String line(Object value) {
    try {
      return MAPPER.writeValueAsString(value) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not expressible as JSON: " + value.getClass(), e);
    }
  }
}
