package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.management.ObjectName;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** An Optane and a NAND volume in one DataNode: new blocks go where their readers are best off. */
class ITPlacement {
  private static final String OPTANE = "optane-900p";
  private static final String NAND = "melded-tlc-8x8";
  private static final int BLOCKS = 3;

  private static MeldCluster start(String nameNodePlugins) {
    return MeldCluster.builder()
        .volumes(OPTANE, NAND)
        .set(
            "dfs.datanode.fsdataset.volume.choosing.policy",
            "org.hdfsmeld.datanode.placement.ContractVolumeChoosingPolicy")
        .set("dfs.namenode.plugins", nameNodePlugins)
        .meld("hint.timeout", "30s")
        .start();
  }

  private static MeldCluster start() {
    return start("org.hdfsmeld.namenode.ReadPatternService");
  }

  private static long counter(String profile, String counter) {
    for (ObjectName volume : Volumes.all()) {
      if (Volumes.get(volume, "Profile").equals(profile)) {
        return Volumes.counters(volume).get(counter);
      }
    }
    throw new AssertionError("no volume of profile " + profile);
  }

  private static Path directory(MeldCluster cluster, String pattern) throws IOException {
    Path directory = new Path("/" + pattern);
    cluster.fileSystem().mkdirs(new Path(directory, "below"));
    cluster
        .fileSystem()
        .setXAttr(directory, "user.meld.read-pattern", pattern.getBytes(StandardCharsets.UTF_8));
    return new Path(directory, "below/file");
  }

  private static void write(MeldCluster cluster, Path file, int blockBytes) throws IOException {
    byte[] content = Content.random(1, BLOCKS * blockBytes);
    try (FSDataOutputStream out =
        cluster.fileSystem().create(file, true, 4096, (short) 1, blockBytes)) {
      out.write(content);
    }
    Content.assertSame(cluster.fileSystem(), file, content);
  }

  @Test
  void eachVolumeHasTheDeviceItIsBoundTo() {
    try (MeldCluster cluster = start()) {
      assertThat(Volumes.all()).hasSize(2);
      assertThat(counter(OPTANE, "dies")).isEqualTo(7);
      assertThat(counter(NAND, "dies")).isEqualTo(64);
    }
  }

  @Test
  void theAttributeOfADirectoryDecides() throws IOException {
    try (MeldCluster cluster = start()) {
      write(cluster, directory(cluster, "random"), MeldCluster.BLOCK_BYTES);
      assertThat(counter(OPTANE, "placed_random")).isEqualTo(BLOCKS);
      assertThat(counter(NAND, "host_written_bytes")).isZero();

      write(cluster, directory(cluster, "sequential"), 1 << 20);
      assertThat(counter(NAND, "placed_sequential")).isEqualTo(BLOCKS);
      assertThat(counter(OPTANE, "blocks_mapped")).isEqualTo(BLOCKS);
      assertThat(counter(OPTANE, "errors") + counter(NAND, "errors")).isZero();
    }
  }

  @Test
  void withoutAnAttributeTheBlockSizeOfTheFileDecides() throws IOException {
    try (MeldCluster cluster = start()) {
      write(cluster, new Path("/full"), MeldCluster.BLOCK_BYTES);
      assertThat(counter(NAND, "placed_sequential")).isEqualTo(BLOCKS);
      write(cluster, new Path("/small"), 1 << 20);
      assertThat(counter(OPTANE, "placed_small")).isEqualTo(BLOCKS);
    }
  }

  @Test
  void withoutTheNameNodesServiceBlocksGoByTheDataNodesBlockSize() throws IOException {
    try (MeldCluster cluster = start("")) {
      write(cluster, directory(cluster, "random"), MeldCluster.BLOCK_BYTES);
      assertThat(counter(NAND, "placed_sequential")).isEqualTo(BLOCKS);
      assertThat(counter(OPTANE, "blocks_mapped")).isZero();
    }
  }
}
