package org.hdfsmeld.spark.timeline;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.hdfsmeld.spark.cli.Json;

/** A file as written, taken apart. */
record TimelineFile(
    JsonNode header, List<JsonNode> stages, Map<Long, JsonNode> tasks, List<BlockRead> reads) {
  static TimelineFile of(Path file) throws IOException {
    String text;
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    List<String> lines = text.lines().toList();
    TimelineFile timeline =
        new TimelineFile(
            Json.parse(lines.get(0)), new ArrayList<>(), new HashMap<>(), new ArrayList<>());
    for (String line : lines.subList(1, lines.size())) {
      JsonNode node = Json.parse(line);
      if (node.has("stage")) {
        timeline.stages.add(node.path("stage"));
      } else if (node.has("task")) {
        timeline.tasks.put(node.path("task").path("id").asLong(), node.path("task"));
      } else if (node.has("read")) {
        timeline.reads.add(read(node.path("read")));
      } else {
        throw new IOException("unexpected line: " + line);
      }
    }
    return timeline;
  }

  static BlockRead read(JsonNode read) {
    return new BlockRead(
        read.path("task").asLong(),
        read.path("path").asText(),
        read.path("pool").asText(),
        read.path("block").asLong(),
        read.path("offset").asLong(),
        read.path("bytes").asLong(),
        read.path("begin_ns").asLong(),
        read.path("end_ns").asLong(),
        read.path("waited_ns").asLong());
  }
}
