package org.hdfsmeld.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.ReadPattern;
import org.junit.jupiter.api.Test;

class TestReadPatterns {
  private static DataInputStream written(ConsumerRaisingIOE<DataOutput> writer) throws IOException {
    return BytesService.reader(BytesService.message(writer));
  }

  @Test
  void questionsAndAnswersArriveAsTheyWereSent() throws IOException {
    ReadPatterns.Question question =
        ReadPatterns.readQuestion(
            written(
                out ->
                    ReadPatterns.writeQuestion(
                        new ReadPatterns.Question("BP-1", new long[] {1, -9L << 40}), out)));
    assertThat(question.pool()).isEqualTo("BP-1");
    assertThat(question.blockIds()).containsExactly(1, -9L << 40);

    List<BlockHint> hints = new ArrayList<>();
    for (ReadPattern pattern : ReadPattern.values()) {
      hints.add(new BlockHint(pattern, 1L << 40, 16_390, 16_389, 3, -7, 1_800));
    }
    hints.add(BlockHint.NONE);
    assertThat(
            ReadPatterns.readAnswer(
                hints.size(), written(out -> ReadPatterns.writeAnswer(hints, out))))
        .isEqualTo(hints);
  }

  @Test
  void nonsenseIsRefused() throws IOException {
    List<BlockHint> one = List.of(BlockHint.NONE);
    assertThatThrownBy(
            () -> ReadPatterns.readAnswer(2, written(out -> ReadPatterns.writeAnswer(one, out))))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> ReadPatterns.readAnswer(1, written(out -> out.writeShort(1))))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> ReadPatterns.readQuestion(written(out -> out.writeUTF("BP-1"))))
        .isInstanceOf(IOException.class);
    List<BlockHint> many = Collections.nCopies(ReadPatterns.MAX_BLOCKS + 1, BlockHint.NONE);
    assertThatThrownBy(
            () ->
                ReadPatterns.readAnswer(
                    many.size(), written(out -> ReadPatterns.writeAnswer(many, out))))
        .isInstanceOf(IOException.class);
  }

  @Test
  void toAnOlderNameNodeFilesAndDirectoriesAreKinds() throws IOException {
    BlockHint hint = new BlockHint(ReadPattern.RANDOM, 5, 7, 8, 1, 9, 10);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ReadPatterns.writeAnswer(List.of(hint), new DataOutputStream(bytes));
    for (int lacks : new int[] {2, 3}) {
      byte[] older = Arrays.copyOf(bytes.toByteArray(), bytes.size() - lacks * Long.BYTES);
      DataInputStream in = new DataInputStream(new ByteArrayInputStream(older));
      assertThat(ReadPatterns.readAnswer(1, in))
          .containsExactly(new BlockHint(ReadPattern.RANDOM, 5, 7, 9, 1, 9, 0));
    }
  }

  @Test
  void numbersThatCannotBeAreTakenAsUnknown() throws IOException {
    DataInputStream in =
        written(
            out -> {
              out.writeShort(1);
              out.writeByte(200);
              out.writeLong(-5);
              out.writeLong(7);
              out.writeLong(8);
              out.writeShort(-30_000);
            });
    assertThat(ReadPatterns.readAnswer(1, in))
        .containsExactly(new BlockHint(ReadPattern.UNKNOWN, 0, 7, 8, BlockHint.NOBODY, 8, 0));
  }
}
