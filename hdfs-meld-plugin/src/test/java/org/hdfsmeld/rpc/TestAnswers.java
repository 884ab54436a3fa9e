package org.hdfsmeld.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.junit.jupiter.api.Test;

/** Answers of DataNodes of other versions, and of those that cannot be trusted. */
class TestAnswers {
  private static final RecordingStatus STATUS =
      new RecordingStatus(
          true,
          5,
          1,
          "disk full",
          List.of(new RecordingStatus.File("a", 7), new RecordingStatus.File("b", 9)));

  private static DataInputStream in(byte[] bytes) {
    return new DataInputStream(new ByteArrayInputStream(bytes));
  }

  private static byte[] bytes(ConsumerRaisingIOE<DataOutput> writer) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    writer.accept(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  @Test
  void aStatusIsReadAsItWasWritten() throws IOException {
    assertThat(RecordingStatus.read(in(bytes(STATUS::write)))).isEqualTo(STATUS);
  }

  /** The version before had the names only, and stops reading behind them. */
  @Test
  void aStatusWithoutSizesIsRead() throws IOException {
    byte[] now = bytes(STATUS::write);
    byte[] before = Arrays.copyOf(now, now.length - 2 * Long.BYTES);
    assertThat(RecordingStatus.read(in(before)).files())
        .extracting(RecordingStatus.File::name)
        .containsExactly("a", "b");
  }

  @Test
  void countsOfAnswersAreBounded() throws IOException {
    for (int count : new int[] {-1, 20_001, Integer.MAX_VALUE}) {
      byte[] report = bytes(out -> out.writeInt(count));
      assertThatThrownBy(() -> DatanodeReport.read(in(report)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("damaged answer");
      byte[] status =
          bytes(
              out -> {
                out.writeBoolean(false);
                out.writeLong(0);
                out.writeLong(0);
                out.writeUTF("");
                out.writeInt(count);
              });
      assertThatThrownBy(() -> RecordingStatus.read(in(status)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("damaged answer");
    }
  }
}
