package org.hdfsmeld.datanode.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.AbstractMetric;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.metrics.SimMetricsSource;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NativeSimDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The pages that document the metrics have each one that is published, with its type. */
class TestMetricsPage {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z0-9_]+)` \\| ([^|]+) \\|");

  private final Map<String, String> published = new HashMap<>();

  @BeforeEach
  void publish() throws IOException {
    MeldConfiguration config = MeldConfiguration.read(new Configuration());
    try (MeldVolumes volumes =
        FakeDevice.volumes(config, () -> NativeSimDevice.open("", "melded-tlc-8x8"))) {
      volumes.add("DS-79", new File("/data/79/current"));
      MetricsCollectorImpl collector = new MetricsCollectorImpl();
      SimMetricsSource.of(volumes.holding(new File("/data/79/current/BP-1/blk_1")), "DS-79")
          .getMetrics(collector, true);
      for (AbstractMetric metric : collector.getRecords().get(0).metrics()) {
        published.put(metric.name(), metric.type().name().toLowerCase(Locale.ROOT));
      }
    }
  }

  private static Map<String, String> rows(String page) throws IOException {
    Map<String, String> rows = new HashMap<>();
    Matcher matcher = ROW.matcher(Files.readString(Path.of("../docs/reference", page)));
    while (matcher.find()) {
      rows.put(matcher.group(1), matcher.group(2));
    }
    return rows;
  }

  @Test
  void everyMetricIsDocumentedWithItsType() throws IOException {
    Map<String, String> documented = rows("metrics.md");
    Map<String, String> ofDevice = rows("counters.md");
    assertThat(documented).isNotEmpty();
    assertThat(published).hasSizeGreaterThan(documented.size());
    published.forEach(
        (name, type) -> {
          if (documented.containsKey(name)) {
            assertThat(type).as("type of %s", name).isEqualTo(documented.get(name));
          } else {
            assertThat(ofDevice).as("metrics.md or counters.md").containsKey(name);
          }
        });
  }

  @Test
  void everyDocumentedMetricIsPublished() throws IOException {
    assertThat(published.keySet())
        .containsAll(rows("metrics.md").keySet())
        .containsAll(rows("counters.md").keySet());
  }

  @Test
  void theDevicesGaugesAreNamed() throws IOException {
    String page = Files.readString(Path.of("../docs/reference/metrics.md"));
    rows("counters.md")
        .keySet()
        .forEach(
            name -> {
              if (published.get(name).equals("gauge")) {
                assertThat(page).contains("`" + name + "`");
              }
            });
  }
}
