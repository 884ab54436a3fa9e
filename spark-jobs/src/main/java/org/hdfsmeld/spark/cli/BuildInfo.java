package org.hdfsmeld.spark.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What this build is: its version and what it was built against. */
public final class BuildInfo implements IVersionProvider {
  private static final Properties PROPERTIES = load();

  /** The version of hdfs-meld. */
  public static String version() {
    return PROPERTIES.getProperty("version");
  }

  /** The version of the TPC-H generator. */
  public static String tpchVersion() {
    return PROPERTIES.getProperty("tpch.version");
  }

  @Override
  public String[] getVersion() {
    return new String[] {"hdfs-meld " + version()};
  }

  private static Properties load() {
    Properties properties = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("build.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties;
  }
}
