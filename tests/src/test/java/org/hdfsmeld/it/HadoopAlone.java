package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cluster without the plugin: whether Hadoop runs on this Java. Run by {@code ./meld
 * compatibility}, which has the plugin not even on the class path then.
 */
class HadoopAlone {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");

  @TempDir Path directory;

  @Test
  void writesAndReads() throws Exception {
    File base = directory.toFile();
    try (MiniDFSCluster hdfs = new MiniDFSCluster.Builder(new Configuration(), base).build()) {
      hdfs.waitActive();
      byte[] bytes = Content.write(hdfs.getFileSystem(), FILE, 1, 3 << 20);
      Content.assertSame(hdfs.getFileSystem(), FILE, bytes);
      assertThat(getClass().getClassLoader().getResource("org/hdfsmeld/tools/MeldAdmin.class"))
          .as("the plugin")
          .isNull();
    }
  }
}
