package org.hdfsmeld.it;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.awaitility.Awaitility;

/** A real HDFS in this JVM whose DataNodes have the plugin, configured as a user would: by keys. */
final class MeldCluster implements AutoCloseable {
  static final int BLOCK_BYTES = 4 << 20;

  /** Blocks that grow past this are taken as full-size, so tagged sequential. */
  static final int HINT_MIN_BYTES = 1 << 20;

  static {
    // For what comes for certain: on a busy machine it comes late.
    Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
  }

  private final Path directory;
  private final MiniDFSCluster hdfs;
  private final DistributedFileSystem fileSystem;

  private MeldCluster(Path directory, MiniDFSCluster hdfs) throws IOException {
    this.directory = directory;
    this.hdfs = hdfs;
    this.fileSystem = hdfs.getFileSystem();
  }

  static Builder builder() {
    return new Builder();
  }

  MiniDFSCluster hdfs() {
    return hdfs;
  }

  DistributedFileSystem fileSystem() {
    return fileSystem;
  }

  @Override
  public void close() {
    hdfs.shutdown(true);
    FileUtil.fullyDelete(directory.toFile());
  }

  static final class Builder {
    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Map<String, String> absent = new LinkedHashMap<>();
    private int dataNodes = 1;
    private List<String> profiles = List.of();
    private StorageType[] storageTypes = {StorageType.DISK};

    private Builder() {
      set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
      // Its thread may begin late, and reads then what the test has written: at first 4 KiB.
      set("dfs.block.scanner.volume.bytes.per.second", "0");
      meld("mode", "account");
      // Empty but for the tests that need faults, which have a JVM of their own.
      meld("native.library", Volumes.FAULTY_LIBRARY);
      meld("hint.min-bytes", Integer.toString(HINT_MIN_BYTES));
      meld("readahead.window", "2m");
      meld("readahead.request", "256k");
      set("dfs.blocksize", Integer.toString(BLOCK_BYTES));
      set("dfs.namenode.fs-limits.min-block-size", "0");
      set("dfs.replication", "1");
      // Deletes, re-replication and dead nodes are noticed within seconds, not minutes.
      set("dfs.heartbeat.interval", "1");
      set("dfs.namenode.heartbeat.recheck-interval", "500");
      set("dfs.namenode.redundancy.interval.seconds", "1s");
      // A copy that meets the stale replica of a restarted DataNode fails; it is tried again.
      set("dfs.namenode.reconstruction.pending.timeout-sec", "5");
      set("dfs.client.block.write.replace-datanode-on-failure.best-effort", "true");
      // Who closes a file asks again soon, and for as long as by default, whether its last block is
      // there.
      set("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "10");
      set("dfs.client.block.write.locateFollowingBlock.retries", "10");
    }

    Builder dataNodes(int count) {
      dataNodes = count;
      return this;
    }

    /** One volume of each profile in every DataNode, in place of one of the default profile. */
    Builder volumes(String... profiles) {
      this.profiles = List.of(profiles);
      return this;
    }

    /** Volumes of these types in every DataNode, all of the default profile. */
    Builder storageTypes(StorageType... types) {
      this.storageTypes = types;
      return this;
    }

    /** Binds a volume that is not there at start, such as {@code data9}, to a device. */
    Builder bind(String volume, String profile) {
      absent.put(volume, profile);
      return this;
    }

    Builder set(String key, String value) {
      settings.put(key, value);
      return this;
    }

    /** Sets {@code dfs.datanode.meld.<key>}. */
    Builder meld(String key, String value) {
      return set("dfs.datanode.meld." + key, value);
    }

    /** Starts all, waits until all serve. */
    MeldCluster start() {
      return start(dataNodes);
    }

    /** Starts the NameNode, and DataNodes that are expected to give up: waits for nothing. */
    MeldCluster startExpectingRefusal() {
      MeldCluster cluster = start(0);
      try {
        cluster.hdfs.startDataNodes(cluster.hdfs.getConfiguration(0), dataNodes, true, null, null);
        return cluster;
      } catch (IOException e) {
        cluster.close();
        throw new UncheckedIOException(e);
      }
    }

    private MeldCluster start(int dataNodes) {
      try {
        Path directory = Files.createTempDirectory("meld-it");
        Configuration configuration = new Configuration();
        settings.forEach(configuration::set);
        if (!profiles.isEmpty()) {
          configuration.set("dfs.datanode.meld.volume.profiles", volumeProfiles(directory));
        }
        try (QuickWebHdfs quick = QuickWebHdfs.start()) {
          MiniDFSCluster hdfs =
              new MiniDFSCluster.Builder(configuration, new File(directory.toString()))
                  .numDataNodes(dataNodes)
                  .storagesPerDatanode(Math.max(storageTypes.length, profiles.size()))
                  .storageTypes(profiles.isEmpty() ? storageTypes : null)
                  .build();
          hdfs.waitActive();
          return new MeldCluster(directory, hdfs);
        } catch (IOException | RuntimeException e) {
          FileUtil.fullyDelete(directory.toFile());
          throw e;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Where MiniDFSCluster puts the volumes. */
    private String volumeProfiles(Path directory) {
      List<String> entries = new ArrayList<>();
      for (int i = 0; i < dataNodes * profiles.size(); i++) {
        entries.add(
            directory.resolve("data/data" + (i + 1)) + "=" + profiles.get(i % profiles.size()));
      }
      absent.forEach(
          (volume, profile) -> entries.add(directory.resolve("data/" + volume) + "=" + profile));
      return String.join(",", entries);
    }
  }
}
