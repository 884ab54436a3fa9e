package org.hdfsmeld.sim;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * Loads libmeldsim and binds {@link LibMeldsim} to it.
 *
 * <p>Direct mapping binds a class' natives once, so one library serves a class loader: the first
 * that loads. Asking for the same one again costs nothing; asking for another one is an error,
 * never a silent substitute. A library that cannot be loaded binds nothing, so a later call with a
 * better path still succeeds.
 *
 * <p>The packed library is unpacked where JNA unpacks its own: into the folder {@code jna.tmpdir}
 * when an operator has set that, or else into the first that allows execution of the JVM's
 * temporary folder, the user's home and the working directory.
 */
public final class NativeLoader {
  private static final String FILE_NAME = "libmeldsim.so";
  private static final String PACKED = "";

  /** JNA's, and nothing else is tried where it is set. */
  private static final String FOLDER_KEY = "jna.tmpdir";

  private static final List<String> FOLDER_KEYS =
      List.of("java.io.tmpdir", "user.home", "user.dir");

  static {
    // JNA looks once, when it is first used, and is of no use in this JVM if it fails.
    if (System.getProperty(FOLDER_KEY) == null) {
      FOLDER_KEYS.stream()
          .map(System::getProperty)
          .filter(NativeLoader::allowsExecution)
          .findFirst()
          .ifPresent(folder -> System.setProperty(FOLDER_KEY, folder));
    }
  }

  /** What is bound: a canonical path, {@link #PACKED}, or null. */
  private static String bound;

  /** Why the packed library cannot be loaded; kept, for it will not get better. */
  private static String packedProblem;

  private NativeLoader() {}

  /** Before JNA is used: sees to it that JNA finds a folder to load its own library from. */
  public static void prepare() {
    // The class is initialized then.
  }

  private static boolean allowsExecution(String folder) {
    try {
      Path probe =
          Files.createTempFile(
              Path.of(folder),
              "libmeldsim",
              ".probe",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
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

  /**
   * Loads the library.
   *
   * @param explicitPath its path, in which case nothing else is tried, or empty for the one packed
   *     under JNA's resource prefix
   * @throws SimException when it cannot be loaded; says what to do
   */
  public static synchronized void load(String explicitPath) throws SimException {
    String wanted = explicitPath.isEmpty() ? PACKED : canonical(explicitPath);
    if (wanted.equals(bound)) {
      return;
    }
    if (bound != null) {
      throw new SimException(
          "libmeldsim is already loaded from "
              + describe(bound)
              + " and one process can use only one; configure the same library for all its"
              + " DataNodes, or restart it to use "
              + describe(wanted),
          null);
    }
    if (wanted.equals(PACKED)) {
      loadPacked();
    } else {
      bind(Path.of(wanted));
    }
    bound = wanted;
  }

  private static String canonical(String path) throws SimException {
    try {
      return Path.of(path).toRealPath().toString();
    } catch (IOException e) {
      throw new SimException(
          "no readable library at "
              + path
              + "; correct dfs.datanode.meld.native.library, or remove it to use the packed one",
          e);
    }
  }

  private static void loadPacked() throws SimException {
    if (packedProblem != null) {
      throw new SimException(packedProblem, null);
    }
    try {
      Path copy = unpack();
      try {
        bind(copy);
      } finally {
        // The mapping keeps the library; the file is not needed any more.
        Files.deleteIfExists(copy);
      }
    } catch (SimException e) {
      packedProblem = e.getMessage();
      throw e;
    } catch (IOException e) {
      packedProblem =
          "cannot unpack libmeldsim ("
              + e
              + "); name a folder that is writable and not mounted noexec with -D"
              + FOLDER_KEY
              + "=FOLDER, or set dfs.datanode.meld.native.library to the library";
      throw new SimException(packedProblem, e);
    }
  }

  private static Path unpack() throws IOException {
    String resource = Platform.RESOURCE_PREFIX + "/" + FILE_NAME;
    try (InputStream in = NativeLoader.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new SimException(
            "no "
                + resource
                + " on the class path; use the plugin's jar with classifier \"all\" built for this"
                + " platform, or set dfs.datanode.meld.native.library to the library",
            null);
      }
      String folder = System.getProperty(FOLDER_KEY);
      if (folder == null) {
        throw new IOException("none of " + FOLDER_KEYS + " allows execution");
      }
      Path copy =
          Files.createTempFile(Files.createDirectories(Path.of(folder)), "libmeldsim", ".so");
      Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
      return copy;
    }
  }

  private static void bind(Path library) throws SimException {
    int version;
    try {
      Native.register(LibMeldsim.class, NativeLibrary.getInstance(library.toString()));
      version = LibMeldsim.meldsim_abi_version();
    } catch (Error e) {
      throw new SimException(
          "cannot load libmeldsim from "
              + library
              + " ("
              + e.getMessage()
              + "); check that it was built for this platform, and that its directory and JNA's, -D"
              + FOLDER_KEY
              + ", allow execution",
          e);
    }
    if (version != LibMeldsim.ABI_VERSION) {
      Native.unregister(LibMeldsim.class);
      throw new SimException(
          SimStatus.ABI,
          "libmeldsim at "
              + library
              + " has ABI version "
              + version
              + " and the plugin needs "
              + LibMeldsim.ABI_VERSION
              + "; use the library that came with the plugin");
    }
  }

  private static String describe(String source) {
    return source.equals(PACKED) ? "the plugin's jar" : source;
  }
}
