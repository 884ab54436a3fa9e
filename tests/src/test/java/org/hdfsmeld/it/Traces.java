package org.hdfsmeld.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The DataNodes' block traces, started and stopped as an operator would: over JMX. */
final class Traces {
  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  /** A line of a trace. */
  record Line(
      String volume,
      String block,
      long offset,
      long length,
      String op,
      String pattern,
      String client,
      String directory) {}

  private Traces() {}

  static void all(String operation) {
    for (ObjectName trace : names()) {
      try {
        SERVER.invoke(trace, operation, new Object[0], new String[0]);
      } catch (JMException e) {
        throw new AssertionError(trace + " " + operation, e);
      }
    }
  }

  static long total(String attribute) {
    long sum = 0;
    for (ObjectName trace : names()) {
      sum += (Long) Volumes.get(trace, attribute);
    }
    return sum;
  }

  private static Set<ObjectName> names() {
    try {
      return SERVER.queryNames(new ObjectName("Hadoop:service=DataNode,name=MeldTrace-*"), null);
    } catch (JMException e) {
      throw new AssertionError(e);
    }
  }

  /** The files of all DataNodes. */
  static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".csv.gz")).sorted().toList();
    }
  }

  static List<Line> lines(Path folder) throws IOException {
    List<Line> lines = new ArrayList<>();
    for (Path file : files(folder)) {
      try (InputStream in = new GZIPInputStream(Files.newInputStream(file));
          BufferedReader reader =
              new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
        reader
            .lines()
            .filter(line -> !line.startsWith("#") && !line.startsWith("time_ns"))
            .map(line -> line.split(","))
            .map(
                f ->
                    new Line(
                        f[1],
                        f[2],
                        Long.parseLong(f[3]),
                        Long.parseLong(f[4]),
                        f[5],
                        f[6],
                        f[7],
                        f[8]))
            .forEach(lines::add);
      }
    }
    return lines;
  }

  static long bytes(List<Line> lines, Predicate<Line> which) {
    return lines.stream().filter(which).mapToLong(Line::length).sum();
  }

  static long count(List<Line> lines, Predicate<Line> which) {
    return lines.stream().filter(which).count();
  }
}
