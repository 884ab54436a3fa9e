package org.hdfsmeld.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.hdfsmeld.datanode.MeldFsDatasetFactory;

/** What a test class runs on. */
enum Side {
  /** HDFS as released: the plugin is not even on the class path. */
  STOCK(""),

  /** The plugin, injected by configuration and nothing else. */
  PLUGIN(
      """
        <property>
          <name>dfs.datanode.fsdataset.factory</name>
          <value>%s</value>
        </property>
        <property>
          <name>dfs.datanode.meld.mode</name>
          <value>account</value>
        </property>
      """
          .formatted(MeldFsDatasetFactory.class.getName()));

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

  /** The class path of a JVM on this side, whose {@code hdfs-site.xml} goes into {@code folder}. */
  String classPath(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("hdfs-site.xml"), SITE.formatted(properties));
    List<String> entries = new ArrayList<>();
    entries.add(folder.toString());
    entries.addAll(
        Arrays.asList(
            System.getProperty("java.class.path").split(System.getProperty("path.separator"))));
    if (this == STOCK) {
      entries.remove(jarOf(MeldFsDatasetFactory.class));
    }
    return String.join(System.getProperty("path.separator"), entries);
  }

  private static String jarOf(Class<?> type) {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    return Path.of(source.getLocation().getPath()).toString();
  }
}
