package org.hdfsmeld.spark.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.spark.LocalHdfs;
import org.hdfsmeld.spark.data.RawContent;
import org.hdfsmeld.spark.generate.RawFiles;
import org.hdfsmeld.spark.measure.LatencySummary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Raw files are written to HDFS as promised, and read and verified from there. */
class ITRaw {
  private static final int FILES = 3;
  private static final int BLOCK_BYTES = 1 << 20;

  private static LocalHdfs hdfs;
  private static RawFiles.Written written;

  @BeforeAll
  static void generate() throws Exception {
    hdfs = new LocalHdfs("raw", 2);
    written = RawFiles.generate(hdfs.session, request("data", false));
  }

  @AfterAll
  static void stop() {
    hdfs.close();
  }

  @Test
  void eachFileIsOneBlockOfItsContent() throws Exception {
    long checksum = 0;
    FileStatus[] files = hdfs.fs().listStatus(new Path(written.path()));
    assertThat(files).hasSize(FILES);
    for (int number = 0; number < FILES; number++) {
      assertThat(files[number].getPath().getName()).isEqualTo("raw-0000" + number + "-seed-5");
      assertThat(files[number].getBlockSize()).isEqualTo(BLOCK_BYTES);
      byte[] expected = new byte[BLOCK_BYTES];
      new RawContent(5, number).fill(0, expected, BLOCK_BYTES);
      assertThat(hdfs.read(files[number].getPath().toString())).isEqualTo(expected);
      CRC32C crc = new CRC32C();
      crc.update(expected);
      checksum += crc.getValue();
    }
    assertThat(written.checksum()).isEqualTo(String.format("%016x", checksum));
    assertThat(written.bytes()).isEqualTo(FILES * BLOCK_BYTES);
    assertThat(written.stages()).hasSize(1);
    assertThat(written.stages().get(0).writtenBytes()).isEqualTo(written.bytes());
  }

  @Test
  void scanMeasuresEveryRequestOfAnySize() throws Exception {
    for (int requestBytes : new int[] {1 << 16, 100_000, 2 * BLOCK_BYTES}) {
      RawScan.Result result = scan(requestBytes, true, written.path());
      int requests = FILES * ((BLOCK_BYTES + requestBytes - 1) / requestBytes);
      assertThat(result.latency().requests()).isEqualTo(requests);
      assertThat(result.checksum()).isEqualTo(written.checksum());
      assertThat(result.verifiedBytes()).isEqualTo(result.fileBytes()).isEqualTo(written.bytes());
      assertThat(result.files()).isEqualTo(FILES);
      assertThat(result.stages().get(0).tasks()).isEqualTo(FILES);
      assertThat(result.stages().get(0).readBytes()).isEqualTo(written.bytes());
      LatencySummary latency = result.latency();
      assertThat(latency.p50Us()).isPositive().isLessThanOrEqualTo(latency.p90Us());
      assertThat(latency.p999Us()).isBetween(latency.p99Us(), latency.maxUs());
    }
  }

  @Test
  void oneWrongByteIsFoundAndNamed() throws Exception {
    RawFiles.Written damaged = RawFiles.generate(hdfs.session, request("damaged", false));
    String file = damaged.path() + "/raw-00001-seed-5";
    byte[] content = hdfs.read(file);
    content[654_321] ^= 4;
    hdfs.write(file, content);
    assertThat(scan(1 << 16, false, damaged.path()).checksum()).isNotEqualTo(written.checksum());
    assertThatThrownBy(() -> scan(1 << 16, true, damaged.path()))
        .hasMessageContaining("raw-00001-seed-5: wrong byte at offset 654321");
  }

  @Test
  void verifiesOnlyWhatIsNamedSo() throws Exception {
    hdfs.write(hdfs.path("other/file"), new byte[100]);
    assertThat(scan(64, false, hdfs.path("other")).latency().requests()).isEqualTo(2);
    assertThatThrownBy(() -> scan(64, true, hdfs.path("other"))).hasMessageContaining("--verify");
  }

  @Test
  void replacesOnlyIfTold() throws Exception {
    RawFiles.generate(hdfs.session, request("twice", false));
    assertThatThrownBy(() -> RawFiles.generate(hdfs.session, request("twice", false)))
        .hasMessageContaining("--overwrite");
    RawFiles.Written again = RawFiles.generate(hdfs.session, request("twice", true));
    assertThat(again.checksum()).isEqualTo(written.checksum());
  }

  private static RawFiles.Request request(String name, boolean overwrite) throws Exception {
    return new RawFiles.Request(FILES, BLOCK_BYTES, 5, hdfs.path(name), overwrite);
  }

  private static RawScan.Result scan(int requestBytes, boolean verify, String path)
      throws Exception {
    return RawScan.scan(hdfs.session, new RawScan.Request(List.of(path), requestBytes, verify));
  }
}
