package org.hdfsmeld.spark.devices;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hdfsmeld.spark.cli.Json;

/**
 * The plugin's beans of one DataNode at an instant, as its web server shows them.
 *
 * @param error why there are none; null if it answered
 */
record DataNodeBeans(String address, List<Bean> beans, String error) {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);
  private static final int SETTLES = 20;
  private static final int SETTLES_MS = 50;
  private static final String PREFIX = "Hadoop:service=DataNode,name=";
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .build();

  /**
   * A volume ({@code MeldVolume-…}) or a device that volumes share ({@code MeldDevice-…}).
   *
   * @param name without what is common to all
   */
  record Bean(String name, JsonNode attributes, Map<String, Long> counters) {
    boolean isVolume() {
      return name.startsWith("MeldVolume-");
    }

    /** Whether the counters of a device are here; a shared one's are in a bean of their own. */
    boolean hasDevice() {
      return counters.containsKey("now_ps");
    }

    /** A counter; zero if there is none of that name. */
    long get(String counter) {
      return counters.getOrDefault(counter, 0L);
    }

    String text(String attribute) {
      return attributes.path(attribute).asText("");
    }
  }

  /** Where a DataNode is asked. */
  static URI uri(String address) {
    return URI.create("http://" + address + "/jmx?qry=" + PREFIX + "Meld*");
  }

  /** Asks the DataNode until all that was done shows; it not answering is an answer too. */
  static DataNodeBeans read(String address) throws InterruptedException {
    DataNodeBeans read = readOnce(address);
    for (int left = SETTLES; left > 0 && read.isPending(); left--) {
      Thread.sleep(SETTLES_MS);
      read = readOnce(address);
    }
    return read;
  }

  private boolean isPending() {
    return beans.stream().anyMatch(bean -> bean.get("counters_pending") > 0);
  }

  private static DataNodeBeans readOnce(String address) throws InterruptedException {
    try {
      HttpRequest request = HttpRequest.newBuilder(uri(address)).timeout(ANSWER_TIMEOUT).build();
      HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        return new DataNodeBeans(address, List.of(), "HTTP status " + response.statusCode());
      }
      return new DataNodeBeans(address, beans(Json.parse(response.body())), null);
    } catch (IOException e) {
      return new DataNodeBeans(address, List.of(), e.toString());
    }
  }

  private static List<Bean> beans(JsonNode answer) {
    List<Bean> beans = new ArrayList<>();
    for (JsonNode bean : answer.path("beans")) {
      String name = bean.path("name").asText("");
      // The block trace has a bean, too.
      if (name.startsWith(PREFIX) && bean.path("Counters").isArray()) {
        beans.add(new Bean(name.substring(PREFIX.length()), bean, counters(bean)));
      }
    }
    return beans;
  }

  /** Hadoop writes a map as a list of its entries. */
  private static Map<String, Long> counters(JsonNode bean) {
    Map<String, Long> counters = new TreeMap<>();
    for (JsonNode entry : bean.path("Counters")) {
      counters.put(entry.path("key").asText(), entry.path("value").asLong());
    }
    return counters;
  }
}
