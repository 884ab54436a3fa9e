package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
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
  void theUnpackedLibraryIsNobodyElses() throws Exception {
    Path copy = NativeLoader.DEVICE.unpack();
    assertThat(permissions(copy)).isEqualTo("rw-------");
    assertThat(permissions(copy.getParent())).isEqualTo("rwx------");
    assertThat(copy.getParent().getParent())
        .isEqualTo(Path.of(System.getProperty("java.io.tmpdir")));
    Files.delete(copy);
    Files.delete(copy.getParent());
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  /** What is set counts for everybody who uses JNA in this JVM. */
  @Test
  void jnaKeepsItsOwnFolderWhereThatAllowsExecution() throws Exception {
    assertThat(said(String.join(" ", javaCommand(dir, dir, dir)) + " jna"))
        .endsWith("null: loaded");
    Path absent = dir.resolve("absent");
    assertThat(said(String.join(" ", javaCommand(dir, absent, dir)) + " jna"))
        .contains(dir + "/libmeldsim")
        .endsWith(": loaded");
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
        .hasMessageContaining("already loaded from the jar")
        .hasMessageContaining(copy.toString());
    loader.load("");
  }

  @Test
  void aJarWithoutLibrarySaysWhichJarHasIt() throws Exception {
    Loader loader = new Loader(false);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> loader.load(""))
          .hasMessageContaining("libmeldsim.so on the class path")
          .hasMessageContaining("a jar that was built for this platform");
    }
  }

  @Test
  void loadsWhereTheTemporaryFolderIsMountedNoexec() throws Exception {
    Path mount = Files.createDirectory(dir.resolve("noexec"));
    String mounted = "mount -t tmpfs -o noexec tmpfs " + mount;
    // In namespaces of its own, which the user may not be allowed to make.
    String unshare = "unshare --mount --user --map-root-user";
    Process probe = new ProcessBuilder(List.of("sh", "-c", unshare + " " + mounted)).start();
    assumeThat(probe.waitFor()).as("mounts are allowed").isZero();
    String load = String.join(" ", javaCommand(mount, dir, dir));
    assertThat(said(unshare + " sh -c '" + mounted + " && " + load + "'")).endsWith("loaded");
  }

  @Test
  void loadsWhereTheTemporaryFolderIsNotWritable() throws Exception {
    Path absent = dir.resolve("absent");
    assertThat(said(String.join(" ", javaCommand(absent, dir, absent)))).endsWith("loaded");
    assertThat(said(String.join(" ", javaCommand(absent, absent, dir)))).endsWith("loaded");
  }

  @Test
  void whereNoFolderAllowsExecutionTheRemedyIsSaid() throws Exception {
    Path absent = dir.resolve("absent");
    assertThat(said(String.join(" ", javaCommand(absent, absent, absent))))
        .contains("-Djna.tmpdir=FOLDER")
        .doesNotContain("loaded");
  }

  /** A JVM that loads the packed library, with these folders for what JNA and the loader try. */
  private static List<String> javaCommand(Path temporary, Path home, Path working) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Djava.io.tmpdir=" + temporary,
        "-Duser.home=" + home,
        "-Duser.dir=" + working,
        "-cp",
        System.getProperty("java.class.path"),
        TestNativeLoader.class.getName());
  }

  private static String said(String command) throws Exception {
    Process process = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
  }

  /** Loads the packed library, and says so. As the DataNode, with what it needs made before. */
  public static void main(String[] arguments) throws SimException {
    CommandRing ring = new CommandRing();
    try (SimDevice device = NativeSimDevice.open("", "melded-tlc-8x8")) {
      device.attach(ring);
      assertThat(device.runRing(0, 0)).isEqualTo(CommandRing.NEVER);
      String jna =
          arguments.length > 0 ? System.getProperty("jna.tmpdir") : device.sets() + " sets";
      System.out.println(jna + ": loaded");
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
