package org.hdfsmeld.datanode.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.hdfsmeld.datanode.config.ConfigurationTable.Key;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The page that documents the keys has each of them, as {@code meld-default.xml} describes them.
 *
 * <p>With {@code -Dmeld.update=true} the page's tables are written anew instead.
 */
class TestConfigurationPage {
  private static final Path PAGE = Path.of("../docs/reference/configuration.md");
  private static final Path DEFAULTS = Path.of("src/main/resources/meld-default.xml");
  private static final String BEGIN = "<!-- keys: made of meld-default.xml -->\n\n";
  private static final String END = "\n<!-- end of keys -->\n";

  private ConfigurationTable table;

  @BeforeEach
  void read() throws IOException {
    table = new ConfigurationTable(DEFAULTS);
  }

  @Test
  void thePageIsMadeOfTheDefaults() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    assertThat(begin).as("%s has no lines%n%s%s", PAGE, BEGIN, END).isBetween(BEGIN.length(), end);
    if (Boolean.getBoolean("meld.update")) {
      Files.writeString(PAGE, page.substring(0, begin) + table.markdown() + page.substring(end));
      return;
    }
    assertThat(page.substring(begin, end))
        .as("the keys in %s; to make them anew, run this test with -Dmeld.update=true", PAGE)
        .isEqualTo(table.markdown());
  }

  @Test
  void everyKeyHasAUnitAndAnEffect() {
    assertThat(table.keys()).isNotEmpty().doesNotHaveDuplicates();
    assertThat(table.keys())
        .allSatisfy(
            key -> {
              assertThat(key.prefix()).as("prefix of %s", key.name()).isNotEmpty();
              assertThat(key.effect()).as("<description> of %s", key.name()).endsWith(".");
              assertThat(ConfigurationTable.UNITS)
                  .as("<unit> of %s", key.name())
                  .containsKey(key.unit());
            });
  }

  @Test
  void liveKeysAreThoseThatTheBeanCanSet() {
    List<String> setters =
        Arrays.stream(MeldVolumeMXBean.class.getMethods())
            .map(Method::getName)
            .filter(name -> name.startsWith("set"))
            .toList();
    assertThat(table.keys().stream().filter(Key::live).map(TestConfigurationPage::setter))
        .isNotEmpty()
        .containsExactlyInAnyOrderElementsOf(setters);
  }

  /** The setter of a key: {@code hint.min-bytes} is set by {@code setHintMinBytes}. */
  private static String setter(Key key) {
    StringBuilder name = new StringBuilder("set");
    for (String word : key.name().substring(key.prefix().length()).split("[.-]")) {
      name.append(word.substring(0, 1).toUpperCase(Locale.ROOT)).append(word.substring(1));
    }
    return name.toString();
  }
}
