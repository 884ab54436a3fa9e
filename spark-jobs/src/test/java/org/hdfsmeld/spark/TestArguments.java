package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.hdfsmeld.spark.cli.BadArguments;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Command lines that must be refused before a session is asked for, and what --help says. */
class TestArguments {
  private final StringWriter err = new StringWriter();
  private final StringWriter out = new StringWriter();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--output /x --scale 0",
        "--output /x --scale -1",
        "--output /x --scale NaN",
        "--output /x --scale much",
        "--output /x --files 0",
        "--output /x --orders-files 0",
        "--output /x --format orc",
        "--output /x --format raw --block-size 1000",
        "--output /x --format raw --block-size 0",
        "--output /x --format raw --block-size 12q",
        "--output /x --format raw --block-size 9999999999g",
        "--output /x --colour red",
        "--output /x extra"
      })
  void generateRefuses(String arguments) {
    assertRefused(new Generate(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/x",
        "--format text",
        "--format csv /x",
        "--format text --fast /x",
        "--format text --verify /x",
        "--format raw --request 0 /x",
        "--format raw --request 2g /x"
      })
  void scanRefuses(String arguments) {
    assertRefused(new Scan(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--reads 0 /x",
        "--bytes 0 /x",
        "--bytes 2g /x",
        "--tasks 0 /x",
        "--threads 0 /x",
        "--threads 9999 /x"
      })
  void lookupRefuses(String arguments) {
    assertRefused(new Lookup(), arguments);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--queries q2 /x", "--queries q1,q1 /x", "--repeat 0 /x"})
  void queryRefuses(String arguments) {
    assertRefused(new Query(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/x",
        "--ingest /y",
        "--ingest /y --seconds 0 /x",
        "--ingest /y --seconds NaN /x",
        "--ingest /y --warm-up -1 /x",
        "--ingest /y --rounds 0 /x",
        "--ingest /y --readers 0 /x",
        "--ingest /y --writers 0 /x",
        "--ingest /y --keep -1 /x",
        "--ingest /y --read-rate -1 /x",
        "--ingest /y --ingest-rate NaN /x",
        "--ingest /y --request 0 /x",
        "--ingest /y --block-size 1000 /x",
        "--ingest /y --bin-ms 1 --seconds 3600 /x"
      })
  void mixedRefuses(String arguments) {
    assertRefused(new Mixed(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--format text /x",
        "--output /y /x",
        "--format parquet --output /y /x",
        "--format raw --record 0 --output /y /x",
        "--format raw --record 2m --output /y /x",
        "--format text --files 0 --output /y /x",
        "--format text --files 100000 --output /y /x"
      })
  void sortRefuses(String arguments) {
    assertRefused(new Sort(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--output /y --rounds 0",
        "--output /y --keep 0",
        "--output /y --file-size 0",
        "--output /y --block-size 100",
        "--output /y --least-seconds -1"
      })
  void churnRefuses(String arguments) {
    assertRefused(new Churn(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--job x --seed -1",
        "--job x --set nothing",
        "--job x --colour red",
        "--job x --set a=1,2 --set b:c=1"
      })
  void sweepRefuses(String arguments) {
    assertRefused(new Sweep(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--trace x --iodepth 0",
        "--trace x --replay ajar",
        "--trace x --trace-format csv",
        "--trace x --beyond fail",
        "--trace x --read-pattern odd",
        "--trace a/x b/x"
      })
  void replayRefuses(String arguments) {
    assertRefused(new Replay(), arguments);
  }

  @Test
  void helpNamesEveryOption() {
    assertThat(execute(new Generate(), "--help")).isZero();
    assertThat(out.toString())
        .contains(
            "--output", "--scale", "--format", "--files", "--orders-files", "--json", "--seed");
    assertThat(execute(new Scan(), "--help")).isZero();
    assertThat(out.toString()).contains("--file-per-task", "PATH", "--request");
    assertThat(execute(new Mixed(), "--help")).isZero();
    assertThat(out.toString()).contains("--ingest", "storage", "--bin-ms");
  }

  @Test
  void versionIsTheBuilds() {
    assertThat(execute(new Scan(), "--version")).isZero();
    assertThat(out.toString()).contains("hdfs-meld").doesNotContain("${");
  }

  private void assertRefused(JobCommand job, String arguments) {
    assertThat(execute(job, arguments)).isEqualTo(2);
    assertThat(err.toString().lines())
        .hasSizeBetween(2, 3)
        .noneMatch(line -> line.contains("\tat"));
  }

  private int execute(JobCommand job, String arguments) {
    String[] words = arguments.isEmpty() ? new String[0] : arguments.split(" ");
    return new CommandLine(job)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(new BadArguments())
        .setErr(new PrintWriter(err, true))
        .setOut(new PrintWriter(out, true))
        .execute(words);
  }
}
