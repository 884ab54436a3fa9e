package org.hdfsmeld.spark.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.spark.LocalHdfs;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.generate.RawFiles;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Lookups on HDFS, against the same reads done here on the same bytes. */
class ITLookup {
  private static final int BYTES = 10_000;
  private static final int READS = 200;

  private static LocalHdfs hdfs;
  private static String data;
  private static final Map<String, byte[]> CONTENTS = new HashMap<>();

  @BeforeAll
  static void generate() throws Exception {
    hdfs = new LocalHdfs("lookup", 2);
    data =
        RawFiles.generate(
                hdfs.session, new RawFiles.Request(3, 1 << 20, 1, hdfs.path("data"), false))
            .path();
    hdfs.write(data + "/.hidden", new byte[BYTES]);
    for (FileStatus file : hdfs.fs().listStatus(new Path(data))) {
      CONTENTS.put(file.getPath().toString(), hdfs.read(file.getPath().toString()));
    }
  }

  @AfterAll
  static void stop() {
    hdfs.close();
  }

  @Test
  void readsWhatIsThere() throws Exception {
    List<FileStatus> files =
        DataFiles.all(hdfs.session.sparkContext().hadoopConfiguration(), List.of(data));
    LookupPlan plan = new LookupPlan(files, BYTES, 3);
    long checksum = 0;
    for (int read = 0; read < READS; read++) {
      LookupPlan.Place place = plan.place(read);
      CRC32C crc = new CRC32C();
      crc.update(CONTENTS.get(place.path()), (int) place.offset(), BYTES);
      checksum += crc.getValue();
    }
    LookupRun.Result result = lookUp(READS, 2, 2, 3);
    assertThat(result.checksum()).isEqualTo(String.format("%016x", checksum));
    assertThat(result.latency().requests()).isEqualTo(READS);
    assertThat(result.files()).isEqualTo(3);
    assertThat(result.verifiedBytes()).isEqualTo((long) READS * BYTES);
    assertThat(result.stages()).hasSize(1);
    assertThat(result.stages().get(0).tasks()).isEqualTo(2);
    assertThat(result.stages().get(0).readBytes()).isEqualTo((long) READS * BYTES);
    assertThat(result.stages().get(0).readRecords()).isEqualTo(READS);
  }

  @Test
  void readsDependOnTheSeedAndNotOnTheTasks() throws Exception {
    String checksum = lookUp(READS, 1, 1, 3).checksum();
    assertThat(lookUp(READS, 3, 4, 3).checksum()).isEqualTo(checksum);
    assertThat(lookUp(READS, 3, 4, 4).checksum()).isNotEqualTo(checksum);
  }

  @Test
  void hasNoMoreTasksThanReads() throws Exception {
    LookupRun.Result result = lookUp(1, 4, 4, 1);
    assertThat(result.tasks()).isEqualTo(1);
    assertThat(result.latency().requests()).isEqualTo(1);
  }

  @Test
  void filesThatAreTooShortAreNamed() {
    LookupRun.Request request = new LookupRun.Request(List.of(data), 1, 2 << 20, 1, 1, 1, false);
    assertThatThrownBy(() -> LookupRun.run(hdfs.session, request))
        .hasMessageContaining("--bytes")
        .hasMessageContaining("3 files");
  }

  private static LookupRun.Result lookUp(int reads, int tasks, int threads, long seed)
      throws Exception {
    return LookupRun.run(
        hdfs.session,
        new LookupRun.Request(List.of(data), reads, BYTES, tasks, threads, seed, true));
  }
}
