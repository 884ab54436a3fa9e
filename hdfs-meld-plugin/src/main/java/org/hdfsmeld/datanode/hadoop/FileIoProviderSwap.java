package org.hdfsmeld.datanode.hadoop;

import java.lang.reflect.Field;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;

/**
 * Puts another {@link FileIoProvider} into a DataNode, before its volumes take the one it has.
 *
 * <p>HDFS offers no configuration for it, and every operation on block files passes there. The
 * field is private and final: Java warns of writing it from 26 on, unless it is started with {@code
 * --enable-final-field-mutation=ALL-UNNAMED}. Should a Hadoop or Java version close this door, what
 * is left is to override {@code FsDatasetImpl.getBlockInputStream} and the methods that return a
 * {@code ReplicaHandler} and wrap their streams there; deletes would then come from {@code
 * invalidate}. Until then the DataNode says so and runs as stock.
 */
public final class FileIoProviderSwap {
  private static final String FIELD = "fileIoProvider";

  private FileIoProviderSwap() {}

  /** Replaces the provider: null, or why block I/O cannot be seen and what to do about it. */
  public static String install(DataNode datanode, FileIoProvider provider) {
    try {
      Field field = DataNode.class.getDeclaredField(FIELD);
      field.setAccessible(true);
      field.set(datanode, provider);
    } catch (NoSuchFieldException e) {
      return "this Hadoop version has no DataNode."
          + FIELD
          + "; use Hadoop 3.3.6 to 3.5.0, or remove dfs.datanode.fsdataset.factory";
    } catch (IllegalAccessException | IllegalArgumentException | SecurityException e) {
      return ("this Java does not allow writing DataNode.%s (%s); start the DataNode with"
              + " --enable-final-field-mutation=ALL-UNNAMED or on Java 25 or earlier")
          .formatted(FIELD, e.getMessage());
    } catch (RuntimeException e) {
      return "DataNode." + FIELD + " cannot be opened (" + e.getMessage() + ")";
    }
    return datanode.getFileIoProvider() == provider
        ? null
        : "the DataNode does not use its " + FIELD + " field; is it a test's mock?";
  }
}
