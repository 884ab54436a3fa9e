package org.hdfsmeld.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.hdfsmeld.record.RecordKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a DataNode says decides which file of a folder is written, and none outside of it. */
class TestRecordingNames {
  private static final String UUID = "0d4a26e1-9d1c-4f7b-8a0e-1c2d3e4f5a6b";
  private static final String TRACE = "meld-trace-20260101T000000000Z-000001.csv.gz";
  private static final Path FOLDER = Path.of("/fetched");

  @ParameterizedTest
  @CsvSource({
    UUID + ", meld-trace-20260101T000000000Z-000001.csv.gz, true",
    UUID + ", meld-timeline-20260101T000000000Z-1.records, false",
    UUID + ", meld-timeline-20260101T000000000Z.jsonl.gz, false",
  })
  void aFileOfARecordingHasAPlaceInTheFolder(String uuid, String file, boolean trace)
      throws IOException {
    RecordKind kind = trace ? RecordKind.TRACE : RecordKind.TIMELINE;
    assertThat(RecordingCommand.target(kind, FOLDER, uuid, file))
        .isEqualTo(FOLDER.resolve(uuid + "-" + file));
  }

  @ParameterizedTest
  @CsvSource({
    "../../etc/cron.d/x, " + TRACE,
    "/tmp/x, " + TRACE,
    "'', " + TRACE,
    "1-1-1-1-1, " + TRACE,
    UUID + ", ../" + TRACE,
    UUID + ", /etc/passwd",
    UUID + ", .bashrc",
    UUID + ", ''",
    UUID + ", meld-timeline-20260101T000000000Z.jsonl.gz",
  })
  void whatIsNoNameOfARecordingIsRefused(String uuid, String file) {
    assertThatThrownBy(() -> RecordingCommand.target(RecordKind.TRACE, FOLDER, uuid, file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no name of a recording");
  }
}
