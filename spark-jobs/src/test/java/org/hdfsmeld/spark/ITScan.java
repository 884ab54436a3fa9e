package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.generate.TableFiles;
import org.hdfsmeld.spark.scan.TableScan;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Generate and scan end to end in a local session. */
class ITScan {
  private static final long ROWS = 60175 + 15000;

  @TempDir static Path directory;
  private static SparkSession session;

  @BeforeAll
  static void generate() throws Exception {
    session = open();
    TableFiles.generate(session, request("data", List.of(Format.TEXT, Format.PARQUET), 4));
  }

  @AfterAll
  static void stop() {
    session.stop();
  }

  @Test
  void readsAllOfTheText() throws Exception {
    TableScan.Result result = scan(Format.TEXT, false, "data/text");
    assertThat(result.rows()).isEqualTo(ROWS);
    assertThat(result.files()).isEqualTo(6);
    // Every line ends by one newline, which is not part of its content.
    assertThat(result.contentBytes()).isEqualTo(result.fileBytes() - ROWS);
    assertThat(result.stages()).hasSize(1);
    assertThat(result.stages().get(0).name()).isEqualTo("scan text");
    assertThat(result.stages().get(0).readBytes()).isGreaterThanOrEqualTo(result.fileBytes());
  }

  @Test
  void readsAllOfTheParquet() throws Exception {
    TableScan.Result result = scan(Format.PARQUET, false, "data/parquet");
    assertThat(result.rows()).isEqualTo(ROWS);
    assertThat(result.stages()).hasSize(2);
    assertThat(scan(Format.PARQUET, true, "data/parquet").checksum()).isEqualTo(result.checksum());
  }

  @Test
  void readsOneFileATask() throws Exception {
    TableScan.Result result = scan(Format.TEXT, true, "data/text");
    assertThat(result.rows()).isEqualTo(ROWS);
    assertThat(result.stages().get(0).tasks()).isEqualTo(6);
  }

  @Test
  void checksumDependsOnTheRowsAndNotOnTheirOrder() throws Exception {
    TableFiles.generate(session, request("other-split", List.of(Format.TEXT), 3));
    String checksum = scan(Format.TEXT, true, "data/text").checksum();
    assertThat(scan(Format.TEXT, false, "other-split/text").checksum()).isEqualTo(checksum);

    Path file = firstFile("other-split/text/orders");
    byte[] content = Files.readAllBytes(file);
    content[10] ^= 1;
    rewrite(file, content);
    assertThat(scan(Format.TEXT, false, "other-split/text").checksum()).isNotEqualTo(checksum);
  }

  @Test
  void checksumCountsRepeatedRows() throws Exception {
    Path once = Files.createDirectories(directory.resolve("once"));
    Files.writeString(once.resolve("a"), "x\ny\n");
    Path thrice = Files.createDirectories(directory.resolve("thrice"));
    Files.writeString(thrice.resolve("a"), "x\ny\nx\nx\n");
    assertThat(scan(Format.TEXT, false, "once").checksum())
        .isNotEqualTo(scan(Format.TEXT, false, "thrice").checksum());
  }

  @Test
  void writesTheSameBytesAgain() throws Exception {
    TableFiles.generate(session, request("again", List.of(Format.TEXT), 4));
    byte[] first = Files.readAllBytes(firstFile("data/text/lineitem"));
    assertThat(firstFile("again/text/lineitem")).hasBinaryContent(first);
    assertThat(new String(first, StandardCharsets.UTF_8)).startsWith("1|").endsWith("|\n");
  }

  @Test
  void refusesToOverwriteUnlessTold() throws Exception {
    TableFiles.Request request = request("data", List.of(Format.TEXT), 4);
    assertThatThrownBy(() -> TableFiles.generate(session, request)).hasMessageContaining("exist");
  }

  @Test
  void namesThePathThatIsMissing() {
    assertThatThrownBy(() -> scan(Format.TEXT, false, "nowhere"))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("nowhere: no such file or directory");
  }

  @Test
  void commandWritesOneJsonWithItsConfiguration() throws Exception {
    Path json = directory.resolve("scan.json");
    String data = directory.resolve("data/text").toUri().toString();
    int code = JobCommand.execute(new Scan(), "--format", "text", "--json", json.toString(), data);
    session = open(); // the command stopped the one it was given
    assertThat(code).isZero();
    JsonNode run = new ObjectMapper().readTree(json.toFile());
    assertThat(run.path("arguments").get(0).asText()).isEqualTo("--format");
    assertThat(run.path("hadoopVersion").asText()).isNotBlank();
    assertThat(run.path("machine").path("cores").asInt()).isPositive();
    assertThat(run.path("sparkConf").path("spark.master").asText()).isEqualTo("local[2]");
    assertThat(run.path("sparkConf").path("spark.my.password").asText()).isEqualTo("(redacted)");
    assertThat(run.path("result").path("rows").asLong()).isEqualTo(ROWS);
  }

  @Test
  void listenerWritesTheStagesOfTheApplication() throws Exception {
    scan(Format.TEXT, false, "data/text");
    session.stop();
    JsonNode stages =
        new ObjectMapper().readTree(directory.resolve("stages.json").toFile()).path("stages");
    session = open();
    assertThat(stages).isNotEmpty();
    assertThat(stages)
        .anySatisfy(stage -> assertThat(stage.path("readBytes").asLong()).isPositive());
  }

  private static SparkSession open() {
    return SparkSession.builder()
        .appName("ITScan")
        .master("local[2]")
        .config("spark.ui.enabled", false)
        .config("spark.driver.host", "localhost")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", directory.resolve("warehouse").toString())
        .config("spark.my.password", "hunter2")
        .config("spark.extraListeners", ThroughputListener.class.getName())
        .config(ThroughputListener.FILE_KEY, directory.resolve("stages.json").toString())
        .getOrCreate();
  }

  private static TableFiles.Request request(String name, List<Format> formats, int files) {
    return new TableFiles.Request(
        0.01, formats, files, 2, directory.resolve(name).toUri().toString(), false);
  }

  private static TableScan.Result scan(Format format, boolean filePerTask, String name)
      throws Exception {
    String path = directory.resolve(name).toUri().toString();
    return TableScan.scan(session, new TableScan.Request(format, List.of(path), filePerTask));
  }

  private static Path firstFile(String name) throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve(name))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("part-00000"))
          .findFirst()
          .orElseThrow();
    }
  }

  private static void rewrite(Path file, byte[] content) throws Exception {
    Files.delete(file.resolveSibling("." + file.getFileName() + ".crc"));
    Files.write(file, content);
  }
}
