package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page that documents the keys has each of them, with the default that is really used. */
class TestConfigurationPage {
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([a-z.-]+)`(?: \\(live\\))? \\| (?:`([^`]+)`)? *\\|");

  // Not through Configuration: it leaves out keys whose value is empty.
  private static final Pattern PROPERTY =
      Pattern.compile("<name>dfs\\.datanode\\.meld\\.([a-z.-]+)</name>\\s*<value>(.*?)</value>");

  @Test
  void thePageHasEveryKeyWithItsDefault() throws Exception {
    List<String> documented = new ArrayList<>();
    Matcher rows = ROW.matcher(Files.readString(Path.of("../docs/configuration.md")));
    while (rows.find()) {
      String value = rows.group(2) == null ? "" : rows.group(2);
      documented.add(rows.group(1) + " = " + value);
    }
    List<String> actual = new ArrayList<>();
    Matcher properties =
        PROPERTY.matcher(Files.readString(Path.of("src/main/resources/meld-default.xml")));
    while (properties.find()) {
      actual.add(properties.group(1) + " = " + properties.group(2));
    }
    assertThat(documented).isNotEmpty().containsExactlyInAnyOrderElementsOf(actual);
  }
}
