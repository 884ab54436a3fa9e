package org.hdfsmeld.spark.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileStatus;
import org.hdfsmeld.spark.LocalHdfs;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.generate.RawFiles;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.scan.TableScan;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Sorts on HDFS, against the same rows sorted here; and the check that must notice disorder. */
class ITSort {
  private static final int RECORD_BYTES = 16;
  private static final int RANGES = 3;

  private static LocalHdfs hdfs;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new LocalHdfs("sort", 2);
  }

  @AfterAll
  static void stop() {
    hdfs.close();
  }

  @Test
  void sortsLinesAsUnsignedBytes() throws Exception {
    List<String> lines = new ArrayList<>(List.of("", "~", "é", "\ud83d\ude00", "\uffee", "b", "b"));
    Random random = new Random(1);
    for (int i = 0; i < 5000; i++) {
      lines.add(Long.toString(random.nextLong(), 36));
    }
    hdfs.write(hdfs.path("text/a"), bytes(lines.subList(0, 1000)));
    hdfs.write(hdfs.path("text/b"), bytes(lines.subList(1000, lines.size())));
    SortRun.Result result = sort(Format.TEXT, "text", "text-sorted", false);

    lines.sort((a, b) -> Arrays.compareUnsigned(utf8(a), utf8(b)));
    assertThat(written("text-sorted")).isEqualTo(bytes(lines));
    assertThat(result.rows()).isEqualTo(lines.size());
    assertThat(result.writtenFiles()).isEqualTo(RANGES);
    assertThat(result.writtenBytes()).isEqualTo(result.fileBytes());
    TableScan.Request scan = new TableScan.Request(Format.TEXT, List.of(hdfs.path("text")), false);
    assertThat(result.checksum()).isEqualTo(TableScan.scan(hdfs.session, scan).checksum());
  }

  @Test
  void sortsRecordsAsUnsignedBytes() throws Exception {
    String raw =
        RawFiles.generate(
                hdfs.session, new RawFiles.Request(2, 1 << 18, 1, hdfs.path("data"), false))
            .path();
    List<byte[]> records = new ArrayList<>();
    for (FileStatus file : DataFiles.all(hdfs.fs().getConf(), List.of(raw))) {
      byte[] content = hdfs.read(file.getPath().toString());
      for (int at = 0; at < content.length; at += RECORD_BYTES) {
        records.add(Arrays.copyOfRange(content, at, at + RECORD_BYTES));
      }
    }
    records.sort(Arrays::compareUnsigned);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    records.forEach(expected::writeBytes);

    SortRun.Result result = sort(Format.RAW, "data/raw", "raw-sorted", false);
    assertThat(written("raw-sorted")).isEqualTo(expected.toByteArray());
    assertThat(result.rows()).isEqualTo(records.size());
    assertThat(result.writtenFiles()).isEqualTo(RANGES);
    assertThat(result.shuffleBytes()).isPositive();
    assertThat(result.readMibPerSecond()).isPositive();
    assertThat(result.writtenMibPerSecond()).isPositive();
    assertThat(result.stages().stream().mapToLong(StageThroughput::writtenBytes).sum())
        .isEqualTo(result.fileBytes());
  }

  @Test
  void refusesToOverwriteUnlessTold() throws Exception {
    hdfs.write(hdfs.path("few/a"), "b\na\n".getBytes(StandardCharsets.UTF_8));
    sort(Format.TEXT, "few", "few-sorted", false);
    assertThatThrownBy(() -> sort(Format.TEXT, "few", "few-sorted", false))
        .hasMessageContaining("--overwrite");
    assertThatThrownBy(() -> sort(Format.TEXT, "few-sorted", "few-sorted", true))
        .hasMessageContaining("holds what is to be sorted");
    assertThat(sort(Format.TEXT, "few", "few-sorted", true).rows()).isEqualTo(2);
    assertThat(written("few-sorted")).isEqualTo("a\nb\n".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void filesMustHoldWholeRecords() throws Exception {
    hdfs.write(hdfs.path("odd/a"), new byte[RECORD_BYTES + 1]);
    assertThatThrownBy(() -> sort(Format.RAW, "odd", "odd-sorted", false))
        .hasMessageContaining("odd/a")
        .hasMessageContaining("--record");
  }

  @Test
  void disorderIsNoticedInAFileAndBetweenFiles() throws Exception {
    hdfs.write(hdfs.path("in/part-00000"), "a\nb\n".getBytes(StandardCharsets.UTF_8));
    hdfs.write(hdfs.path("in/part-00001"), new byte[0]);
    hdfs.write(hdfs.path("in/part-00002"), "b\nc\nc\n".getBytes(StandardCharsets.UTF_8));
    assertThat(SortCheck.disorder(rows("in"))).isNull();
    hdfs.write(hdfs.path("in/part-00003"), "bz\nd\n".getBytes(StandardCharsets.UTF_8));
    assertThat(SortCheck.disorder(rows("in")))
        .contains("part-00003: begins")
        .contains("part-00002");
    hdfs.write(hdfs.path("in/part-00000"), "b\na\n".getBytes(StandardCharsets.UTF_8));
    assertThat(SortCheck.disorder(rows("in"))).contains("part-00000: row 1 ");
  }

  @Test
  void lostAndChangedRowsAreNoticed() throws Exception {
    hdfs.write(hdfs.path("two/a"), "a\nb\n".getBytes(StandardCharsets.UTF_8));
    hdfs.write(hdfs.path("one/a"), "a\n".getBytes(StandardCharsets.UTF_8));
    hdfs.write(hdfs.path("changed/a"), "a\nc\n".getBytes(StandardCharsets.UTF_8));
    hdfs.write(hdfs.path("disordered/a"), "b\na\n".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> check("two", "one")).hasMessage("read 2 rows, wrote 1");
    assertThatThrownBy(() -> check("two", "changed")).hasMessageContaining("checksum");
    assertThatThrownBy(() -> check("two", "disordered")).hasMessageContaining("row 1 ");
    assertThat(SortCheck.rows(check("two", "two"))).isEqualTo(2);
  }

  private static List<RowFile> check(String read, String written) throws Exception {
    return SortCheck.check(hdfs.session.sparkContext(), files(read), files(written), 0);
  }

  private static List<FileStatus> files(String name) throws Exception {
    return DataFiles.all(hdfs.fs().getConf(), List.of(hdfs.path(name)));
  }

  private static List<RowFile> rows(String name) throws Exception {
    return RowFile.readAll(hdfs.session.sparkContext(), files(name), 0);
  }

  private static SortRun.Result sort(Format format, String from, String to, boolean overwrite)
      throws Exception {
    return SortRun.run(
        hdfs.session,
        new SortRun.Request(
            format, List.of(hdfs.path(from)), hdfs.path(to), RECORD_BYTES, RANGES, overwrite));
  }

  private static byte[] written(String name) throws Exception {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (FileStatus file : files(name)) {
      all.writeBytes(hdfs.read(file.getPath().toString()));
    }
    return all.toByteArray();
  }

  private static byte[] bytes(List<String> lines) {
    return utf8(String.join("\n", lines) + "\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
