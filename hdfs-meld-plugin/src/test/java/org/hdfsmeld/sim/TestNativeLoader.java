package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each test in a class loader of its own: what is loaded is a matter of the class loader. */
class TestNativeLoader {
  private static final String KEY = "dfs.datanode.meld.native.library";

  @TempDir Path dir;

  @Test
  void loadsThePackedLibraryAndLeavesNoFile() throws Exception {
    Loader loader = new Loader(true);
    long before = temporaryLibraries();
    loader.load("");
    loader.load("");
    assertThat(temporaryLibraries()).isEqualTo(before);
  }

  @Test
  void loadsAnExplicitLibrary() throws Exception {
    new Loader(false).load(copyOfTheLibrary("lib.so").toString());
  }

  @Test
  void anExplicitPathMeansNoFallback() throws Exception {
    Loader loader = new Loader(true);
    Path missing = dir.resolve("missing.so");
    assertThatThrownBy(() -> loader.load(missing.toString()))
        .hasMessageContaining(missing.toString())
        .hasMessageContaining(KEY);
  }

  @Test
  void aBetterPathLaterStillLoads() throws Exception {
    Loader loader = new Loader(true);
    assertThatThrownBy(() -> loader.load(dir.resolve("missing.so").toString()))
        .hasMessageContaining("no readable library");
    Path copy = copyOfTheLibrary("late.so");
    assertThatCode(() -> loader.load(copy.toString())).doesNotThrowAnyException();
  }

  @Test
  void aFileThatIsNoLibrarySaysSo() throws Exception {
    Path file = Files.writeString(dir.resolve("text.so"), "no library");
    assertThatThrownBy(() -> new Loader(true).load(file.toString()))
        .hasMessageContaining("cannot load libmeldsim from " + file);
  }

  @Test
  void anotherLibraryIsNeverSilentlyTheFirst() throws Exception {
    Loader loader = new Loader(true);
    loader.load("");
    Path copy = copyOfTheLibrary("second.so");
    assertThatThrownBy(() -> loader.load(copy.toString()))
        .hasMessageContaining("already loaded from the plugin's jar")
        .hasMessageContaining(copy.toString());
    loader.load("");
  }

  @Test
  void aPlainJarWithoutLibrarySaysWhichJarHasIt() throws Exception {
    Loader loader = new Loader(false);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> loader.load(""))
          .hasMessageContaining("libmeldsim.so on the class path")
          .hasMessageContaining("classifier \"all\"");
    }
  }

  private Path copyOfTheLibrary(String name) throws Exception {
    Path copy = dir.resolve(name);
    try (InputStream in = TestNativeLoader.class.getClassLoader().getResourceAsStream(resource())) {
      Files.copy(in, copy);
    }
    return copy.toRealPath();
  }

  private static String resource() {
    return com.sun.jna.Platform.RESOURCE_PREFIX + "/libmeldsim.so";
  }

  private static long temporaryLibraries() {
    File[] files =
        new File(System.getProperty("java.io.tmpdir"))
            .listFiles((d, name) -> name.startsWith("libmeldsim"));
    return files == null ? 0 : files.length;
  }

  /** The package's classes anew, with or without the packed library. */
  private static final class Loader extends URLClassLoader {
    private final boolean packed;

    Loader(boolean packed) {
      super(classPath(), TestNativeLoader.class.getClassLoader());
      this.packed = packed;
    }

    void load(String path) throws Exception {
      try {
        loadClass(NativeLoader.class.getName()).getMethod("load", String.class).invoke(null, path);
      } catch (InvocationTargetException e) {
        throw (Exception) e.getCause();
      }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("org.hdfsmeld.sim.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
    }

    @Override
    public URL getResource(String name) {
      return !packed && name.equals(resource()) ? null : super.getResource(name);
    }

    private static URL[] classPath() {
      return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
          .map(
              entry -> {
                try {
                  return new File(entry).toURI().toURL();
                } catch (MalformedURLException e) {
                  throw new IllegalStateException(e);
                }
              })
          .toArray(URL[]::new);
    }
  }
}
