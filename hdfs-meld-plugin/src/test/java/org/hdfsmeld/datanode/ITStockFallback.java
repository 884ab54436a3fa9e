package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Set;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A DataNode whose plugin does not link: it is in a class loader of its own, from where Hadoop's
 * package-private classes are out of reach.
 */
class ITStockFallback {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");

  @TempDir Path dir;

  private URLClassLoader loader;
  private MiniDFSCluster cluster;

  /** Loads the plugin's classes itself, and has Hadoop's from the test's loader. */
  private static final class OwnPlugin extends URLClassLoader {
    private final String plugin;

    OwnPlugin(URL plugin, ClassLoader hadoop) {
      super(new URL[] {plugin}, hadoop);
      this.plugin = plugin.toString();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
          return loaded;
        }
        URL file = getResource(name.replace('.', '/') + ".class");
        // In a jar as well as in a folder.
        boolean ours = file != null && file.toString().contains(plugin);
        return ours ? findClass(name) : super.loadClass(name, resolve);
      }
    }
  }

  @BeforeEach
  void load() {
    URL plugin = MeldFsDatasetFactory.class.getProtectionDomain().getCodeSource().getLocation();
    loader = new OwnPlugin(plugin, getClass().getClassLoader());
  }

  @AfterEach
  void stop() throws IOException {
    if (cluster != null) {
      cluster.close();
    }
    loader.close();
  }

  private DataNode start(boolean failFast) throws IOException {
    Configuration conf = new HdfsConfiguration();
    conf.setClassLoader(loader);
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, dir.toString());
    conf.set("dfs.datanode.fsdataset.factory", MeldFsDatasetFactory.class.getName());
    conf.setBoolean(MeldKeys.FAIL_FAST, failFast);
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(0).build();
    cluster.startDataNodes(conf, 1, true, null, null);
    return cluster.getDataNodes().get(0);
  }

  @Test
  void aPluginThatDoesNotLinkLeavesAStockDataNode() throws Exception {
    DataNode datanode = start(false);
    cluster.waitActive();
    byte[] data = new byte[1 << 20];
    FileSystem fs = cluster.getFileSystem();
    try (FSDataOutputStream out = fs.create(FILE, (short) 1)) {
      out.write(data);
    }
    try (FSDataInputStream in = fs.open(FILE)) {
      assertThat(in.readAllBytes()).isEqualTo(data);
    }
    assertThat(datanode.getFSDataset().getClass().getSimpleName()).isEqualTo("FsDatasetImpl");
    assertThat(datanode.getFileIoProvider()).hasSameClassAs(new FileIoProvider(null, null));
    Set<ObjectName> left =
        ManagementFactory.getPlatformMBeanServer()
            .queryNames(new ObjectName("Hadoop:service=DataNode,name=Meld*"), null);
    assertThat(left).isEmpty();
  }

  @Test
  void failFastEndsTheDataNode() throws IOException {
    DataNode datanode = start(true);
    await().until(() -> !datanode.isDatanodeUp());
  }
}
