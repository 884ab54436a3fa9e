package org.hdfsmeld.sim;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Loads libmeldsim and binds {@link LibMeldsim} to it.
 *
 * <p>Direct mapping binds a class' natives once, so one library serves a class loader: the first
 * that loads. Asking for the same one again costs nothing; asking for another one is an error,
 * never a silent substitute. A library that cannot be loaded binds nothing, so a later call with a
 * better path still succeeds.
 */
public final class NativeLoader {
  private static final String FILE_NAME = "libmeldsim.so";
  private static final String PACKED = "";

  /** What is bound: a canonical path, {@link #PACKED}, or null. */
  private static String bound;

  /** Why the packed library cannot be loaded; kept, for it will not get better. */
  private static String packedProblem;

  private NativeLoader() {}

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
          "cannot unpack libmeldsim into "
              + System.getProperty("java.io.tmpdir")
              + " ("
              + e.getMessage()
              + "); make it writable or set dfs.datanode.meld.native.library to the library";
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
      Path copy = Files.createTempFile("libmeldsim", ".so");
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
              + "); check that it was built for this platform and that its directory allows"
              + " execution",
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
