package org.hdfsmeld.conformance;

import static java.util.stream.Collectors.joining;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a test class runs on. */
enum Side {
  /** HDFS as released: the plugin is not even on the class path. */
  STOCK(""),

  /** The plugin, injected by configuration and nothing else. */
  PLUGIN(
      """
        <property>
          <name>dfs.datanode.fsdataset.factory</name>
          <value>org.hdfsmeld.datanode.MeldFsDatasetFactory</value>
        </property>
        <property>
          <name>dfs.datanode.meld.mode</name>
          <value>account</value>
        </property>
      """);

  /** What an operator adds: the same file for every version of Hadoop. */
  static final Path PLUGIN_JAR = Path.of(System.getProperty("meld.plugin"));

  private static final Path OWN_JAR = Path.of(System.getProperty("meld.conformance"));

  /** What Hadoop's own build sets for these tests; this file hides the one it sets it in. */
  private static final String SITE =
      """
      <?xml version="1.0"?>
      <configuration>
        <property>
          <name>hadoop.security.authentication</name>
          <value>simple</value>
        </property>
        <property>
          <name>dfs.namenode.fs-limits.min-block-size</name>
          <value>0</value>
        </property>
      %s</configuration>
      """;

  private final String properties;

  Side(String properties) {
    this.properties = properties;
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The class path of a JVM on this side, whose {@code hdfs-site.xml} goes into {@code folder}.
   *
   * @param hadoop the jars of Hadoop, of its tests and of what they need
   */
  String classPath(Path folder, List<Path> hadoop) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("hdfs-site.xml"), SITE.formatted(properties));
    List<Path> entries = new ArrayList<>(List.of(folder, OWN_JAR));
    if (this == PLUGIN) {
      entries.add(PLUGIN_JAR);
    }
    entries.addAll(hadoop);
    return entries.stream().map(Path::toString).collect(joining(File.pathSeparator));
  }
}
