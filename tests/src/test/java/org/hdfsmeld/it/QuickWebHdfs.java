package org.hdfsmeld.it;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.hadoop.fs.FileUtil;

/**
 * While it is open, NameNodes of this thread start in a fifth of the time. To find the resources of
 * WebHDFS, Jersey inflates each jar that has their packages from end to end, and Hadoop's shaded
 * jars have 100 MB: here it finds them in a folder.
 */
final class QuickWebHdfs implements AutoCloseable {
  private static final Map<String, List<URL>> FOLDERS = new ConcurrentHashMap<>();

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();

  private QuickWebHdfs() {}

  static QuickWebHdfs start() {
    QuickWebHdfs quick = new QuickWebHdfs();
    Thread.currentThread().setContextClassLoader(new Loader(quick.before));
    return quick;
  }

  @Override
  public void close() {
    Thread.currentThread().setContextClassLoader(before);
  }

  private static final class Loader extends ClassLoader {
    Loader(ClassLoader parent) {
      super(parent);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      if (!name.endsWith("/web/resources")) {
        return super.getResources(name);
      }
      List<URL> folders = FOLDERS.get(name);
      if (folders == null) {
        folders = List.of(unpack(name, Collections.list(super.getResources(name))));
        FOLDERS.put(name, folders);
      }
      return Collections.enumeration(folders);
    }
  }

  /** What the jars have under a package, in a folder until this JVM ends. */
  private static URL unpack(String name, List<URL> jars) throws IOException {
    Path root = Files.createTempDirectory("meld-it-web");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> FileUtil.fullyDelete(root.toFile())));
    for (URL jar : jars) {
      JarURLConnection connection = (JarURLConnection) jar.openConnection();
      connection.setUseCaches(false);
      try (JarFile file = connection.getJarFile()) {
        for (JarEntry entry : Collections.list(file.entries())) {
          if (entry.getName().startsWith(name + "/") && !entry.isDirectory()) {
            Path target = root.resolve(entry.getName());
            Files.createDirectories(target.getParent());
            try (InputStream in = file.getInputStream(entry)) {
              Files.copy(in, target);
            }
          }
        }
      }
    }
    return root.resolve(name).toUri().toURL();
  }
}
