package org.hdfsmeld.sim;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * Loads a C library and binds the class that declares its functions to it.
 *
 * <p>Direct mapping binds a class' natives once, so one file serves a class loader: the first that
 * loads. Asking for the same one again costs nothing; asking for another one is an error, never a
 * silent substitute. A library that cannot be loaded binds nothing, so a later call with a better
 * path still succeeds.
 *
 * <p>The packed library is unpacked into a folder of its own, which only this user can enter, in
 * the folder {@code jna.tmpdir} when an operator has set that, or else in the first that allows
 * execution of the JVM's temporary folder, the user's home and the working directory. JNA keeps the
 * folder that it takes by itself, unless that does not allow execution.
 */
public final class NativeLoader {
  /** Devices: all that a DataNode loads. */
  static final NativeLoader DEVICE =
      new NativeLoader("libmeldsim", LibMeldsim.class, "dfs.datanode.meld.native.library");

  /** The same and whole workloads. */
  static final NativeLoader STUDY =
      new NativeLoader("libmeldsim_study", SimRun.class, "the argument of SimRun");

  private static final String PACKED = "the jar";

  /** JNA's, and nothing else is tried where it is set. */
  private static final String FOLDER_KEY = "jna.tmpdir";

  private static final List<String> FOLDER_KEYS =
      List.of("java.io.tmpdir", "user.home", "user.dir");

  private static final FileAttribute<?> EXECUTABLE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  static {
    // JNA looks once, when it is first used, and is of no use in this JVM if it fails.
    if (System.getProperty(FOLDER_KEY) == null && !jnaHasAFolder()) {
      try {
        Path folder = newPrivateFolder();
        folder.toFile().deleteOnExit();
        System.setProperty(FOLDER_KEY, folder.toString());
      } catch (IOException e) {
        // To unpack the library fails likewise, and says so.
      }
    }
  }

  private final String name;
  private final Class<?> functions;
  private final String setting;

  /** What is bound: a canonical path, {@link #PACKED}, or null. */
  private String bound;

  private NativeLoader(String name, Class<?> functions, String setting) {
    this.name = name;
    this.functions = functions;
    this.setting = setting;
  }

  /** Before JNA is used: sees to it that JNA finds a folder to load its own library from. */
  public static void prepare() {
    // The class is initialized then.
  }

  /** Whether JNA can load from where it unpacks its library by itself: the user's cache. */
  private static boolean jnaHasAFolder() {
    String cache = System.getenv("XDG_CACHE_HOME");
    Path home = Path.of(System.getProperty("user.home"));
    try {
      // JNA would make a home that there is not.
      return Files.isDirectory(home)
          && allowsExecution(
              Files.createDirectories(
                  (cache == null || cache.isBlank() ? home.resolve(".cache") : Path.of(cache))
                      .resolve(Path.of("JNA", "temp"))));
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean allowsExecution(Path folder) {
    try {
      Path probe = Files.createTempFile(folder, "libmeldsim", ".probe", EXECUTABLE);
      try {
        // access(2) says no on a file system that is mounted noexec.
        return Files.isExecutable(probe);
      } finally {
        Files.delete(probe);
      }
    } catch (IOException e) {
      return false;
    }
  }

  /** A folder that nobody else can enter, as Java makes them, where files can be executed. */
  private static Path newPrivateFolder() throws IOException {
    String set = System.getProperty(FOLDER_KEY);
    Path parent =
        set != null
            ? Files.createDirectories(Path.of(set))
            : FOLDER_KEYS.stream()
                .map(key -> Path.of(System.getProperty(key)))
                .filter(NativeLoader::allowsExecution)
                .findFirst()
                .orElseThrow(() -> new IOException("none of " + FOLDER_KEYS + " allows execution"));
    return Files.createTempDirectory(parent, "libmeldsim");
  }

  /**
   * Loads the library of devices.
   *
   * @param explicitPath its path, in which case nothing else is tried, or empty for the one packed
   *     under JNA's resource prefix
   * @throws SimException when it cannot be loaded; says what to do
   */
  public static void load(String explicitPath) throws SimException {
    DEVICE.bind(explicitPath);
  }

  /** Loads this library; as {@link #load}. */
  synchronized void bind(String explicitPath) throws SimException {
    String wanted = explicitPath.isEmpty() ? PACKED : canonical(explicitPath);
    if (wanted.equals(bound)) {
      return;
    }
    if (bound != null) {
      throw new SimException(
          ("%s is already loaded from %s and one process can use only one; configure the same"
                  + " library for all its DataNodes, or restart it to use %s")
              .formatted(name, bound, wanted),
          null);
    }
    if (wanted.equals(PACKED)) {
      loadPacked();
    } else {
      register(Path.of(wanted));
    }
    bound = wanted;
  }

  private String canonical(String path) throws SimException {
    try {
      return Path.of(path).toRealPath().toString();
    } catch (IOException e) {
      throw new SimException(
          "no readable library at %s; correct %s, or remove it to use the packed one"
              .formatted(path, setting),
          e);
    }
  }

  private void loadPacked() throws SimException {
    try {
      Path copy = unpack();
      try {
        register(copy);
      } finally {
        // The mapping keeps the library; the file is not needed any more.
        Files.deleteIfExists(copy);
        Files.deleteIfExists(copy.getParent());
      }
    } catch (SimException e) {
      throw e;
    } catch (IOException e) {
      throw new SimException(
          ("cannot unpack %s (%s); name a folder that is writable and not mounted noexec with"
                  + " -D%s=FOLDER, or set %s to the library")
              .formatted(name, e, FOLDER_KEY, setting),
          e);
    }
  }

  /** The packed library as a file that nobody else can read or change. */
  Path unpack() throws IOException {
    String resource = Platform.RESOURCE_PREFIX + "/" + name + ".so";
    try (InputStream in = NativeLoader.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new SimException(
            ("no %s on the class path; use a jar that was built for this platform, or set %s to the"
                    + " library")
                .formatted(resource, setting),
            null);
      }
      Path copy = Files.createTempFile(newPrivateFolder(), name, ".so");
      try (OutputStream out = Files.newOutputStream(copy)) {
        in.transferTo(out);
      }
      return copy;
    }
  }

  private void register(Path library) throws SimException {
    int version;
    try {
      NativeLibrary opened = NativeLibrary.getInstance(library.toString());
      version = opened.getFunction("meldsim_abi_version").invokeInt(new Object[0]);
      if (version == LibMeldsim.ABI_VERSION) {
        Native.register(functions, opened);
        return;
      }
    } catch (Error e) {
      throw new SimException(
          ("cannot load %s from %s (%s); check that it was built for this platform, and that its"
                  + " directory and JNA's, -D%s, allow execution")
              .formatted(name, library, e.getMessage(), FOLDER_KEY),
          e);
    }
    throw new SimException(
        SimStatus.ABI,
        "%s at %s has ABI version %d and %d is needed; use the library that is in the jar"
            .formatted(name, library, version, LibMeldsim.ABI_VERSION));
  }
}
