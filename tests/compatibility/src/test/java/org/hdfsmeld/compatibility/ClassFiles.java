package org.hdfsmeld.compatibility;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/** The classes of a class path and of the JDK, by their internal names: read, and not run. */
final class ClassFiles implements AutoCloseable {
  private static final String SUFFIX = ".class";

  private final URLClassLoader loader;
  private final Map<String, Optional<ClassNode>> read = new HashMap<>();

  /** Looks into the jars and folders in their order, after the JDK. */
  ClassFiles(List<Path> path) {
    URL[] urls = path.stream().map(ClassFiles::url).toArray(URL[]::new);
    this.loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  private static URL url(Path file) {
    try {
      return file.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The internal names of the classes in one jar or folder. */
  static List<String> names(Path jarOrFolder) throws IOException {
    if (Files.isDirectory(jarOrFolder)) {
      return namesUnder(jarOrFolder);
    }
    try (FileSystem jar = FileSystems.newFileSystem(jarOrFolder)) {
      return namesUnder(jar.getPath("/"));
    }
  }

  private static List<String> namesUnder(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .map(file -> root.relativize(file).toString())
          .filter(name -> name.endsWith(SUFFIX))
          .map(name -> name.substring(0, name.length() - SUFFIX.length()))
          .sorted()
          .toList();
    }
  }

  /** Loads a class, to run or to reflect on. */
  Class<?> load(String name) throws ClassNotFoundException {
    return Class.forName(name.replace('/', '.'), false, loader);
  }

  /** The class, or null when there is none. */
  ClassNode find(String name) {
    return read.computeIfAbsent(name, this::read).orElse(null);
  }

  private Optional<ClassNode> read(String name) {
    try (InputStream in = loader.getResourceAsStream(name + SUFFIX)) {
      if (in == null) {
        return Optional.empty();
      }
      ClassNode node = new ClassNode();
      new ClassReader(in).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return Optional.of(node);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The class, its superclasses and then the interfaces of all of these, in the order in which the
   * JVM looks for a member. What is missing is left out.
   */
  List<ClassNode> lineage(ClassNode type) {
    List<ClassNode> lineage = new ArrayList<>();
    Deque<String> interfaces = new ArrayDeque<>();
    for (ClassNode at = type; at != null; at = at.superName == null ? null : find(at.superName)) {
      lineage.add(at);
      interfaces.addAll(at.interfaces);
    }
    Set<String> seen = new LinkedHashSet<>();
    while (!interfaces.isEmpty()) {
      ClassNode at = find(interfaces.remove());
      if (at != null && seen.add(at.name)) {
        lineage.add(at);
        interfaces.addAll(at.interfaces);
      }
    }
    return lineage;
  }

  @Override
  public void close() throws IOException {
    loader.close();
  }
}
