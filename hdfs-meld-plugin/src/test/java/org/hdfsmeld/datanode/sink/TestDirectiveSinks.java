package org.hdfsmeld.datanode.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.LastErrorException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.hdfsmeld.datanode.config.SinkChoice;
import org.hdfsmeld.datanode.layout.HintRule;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounters;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** One contract for every sink, and what each of them adds. */
class TestDirectiveSinks {
  private static final long MIN_BYTES = 1 << 20;
  private static final HintRule RULE = new HintRule(true, MIN_BYTES, 1 << 20);
  private static final DirectiveSink SIMULATOR = (settled, file) -> RULE.directive(settled);

  // In target/, as on a DataNode's disk: memory file systems know no hints.
  @TempDir(factory = BesideTheClasses.class)
  Path dir;

  private final VolumeCounters counters = new VolumeCounters();
  private final SimFailures failures = new SimFailures();
  private File file;

  /** On the disk that the build is on. */
  static final class BesideTheClasses implements org.junit.jupiter.api.io.TempDirFactory {
    @Override
    public Path createTempDirectory(
        org.junit.jupiter.api.extension.AnnotatedElementContext element,
        org.junit.jupiter.api.extension.ExtensionContext context)
        throws IOException {
      return Files.createTempDirectory(Path.of("target"), "sinks");
    }
  }

  @BeforeEach
  void writeTheFile() throws IOException {
    file = Files.writeString(dir.resolve("blk_7"), "data").toFile();
  }

  private DirectiveSink sink(SinkChoice choice) {
    return DirectiveSinks.of(choice, SIMULATOR, "/data/1", counters, failures);
  }

  private static HintDecision decided(ReadPattern pattern) {
    return new HintDecision(pattern, HintDecision.Source.EXPLICIT, "test");
  }

  private long hints() {
    return counters.values().get("lifetime_hints");
  }

  private long refusals() {
    return counters.values().get("lifetime_hints_refused");
  }

  private boolean kernelKeepsHints() {
    try {
      return LibC.setWriteLifetime(file, WriteLifetimeSink.MEDIUM) == WriteLifetimeSink.MEDIUM
          && LibC.setWriteLifetime(file, 0) == 0;
    } catch (LastErrorException e) {
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource
  void noSinkThrowsOrTouchesAByte(SinkChoice choice) throws IOException {
    DirectiveSink sink = sink(choice);
    for (ReadPattern pattern : ReadPattern.values()) {
      for (File target : new File[] {file, new File("/nowhere/blk_7"), null}) {
        assertThatCode(() -> sink.apply(decided(pattern), target)).doesNotThrowAnyException();
      }
    }
    assertThat(Files.readString(file.toPath())).isEqualTo("data");
  }

  @ParameterizedTest
  @EnumSource
  void theDirectiveDoesNotDependOnTheFile(SinkChoice choice) {
    DirectiveSink sink = sink(choice);
    for (ReadPattern pattern : ReadPattern.values()) {
      int alone = sink.apply(decided(pattern), null);
      assertThat(sink.apply(decided(pattern), file)).isEqualTo(alone);
      assertThat(sink.apply(decided(pattern), file)).as("again").isEqualTo(alone);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsNotKnownIsNotSaid(SinkChoice choice) {
    DirectiveSink sink = sink(choice);
    for (ReadPattern pattern : List.of(ReadPattern.NONE, ReadPattern.UNKNOWN)) {
      assertThat(sink.apply(decided(pattern), file)).isEqualTo(Directive.NONE);
    }
    assertThat(hints() + refusals()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "SIMULATOR, true, 0",
    "WRITE_LIFETIME, false, 1",
    "BOTH, true, 1",
    "NONE, false, 0",
  })
  void eachGetsWhatItIsFor(SinkChoice choice, boolean device, long files) {
    int directive = sink(choice).apply(decided(ReadPattern.SEQUENTIAL), file);
    assertThat(directive != Directive.NONE).isEqualTo(device);
    assertThat(hints() + refusals()).isEqualTo(files);
  }

  @Test
  void theKernelHasTheHint() {
    assumeTrue(kernelKeepsHints(), "this kernel or file system keeps no write-lifetime hints");
    DirectiveSink sink = sink(SinkChoice.WRITE_LIFETIME);
    sink.apply(decided(ReadPattern.SEQUENTIAL), file);
    assertThat(LibC.writeLifetime(file)).isEqualTo(WriteLifetimeSink.LONG);
    sink.apply(decided(ReadPattern.RANDOM), file);
    assertThat(LibC.writeLifetime(file)).isEqualTo(WriteLifetimeSink.MEDIUM);
    sink.apply(decided(ReadPattern.NONE), file);
    assertThat(LibC.writeLifetime(file)).as("left alone").isEqualTo(WriteLifetimeSink.MEDIUM);
    assertThat(hints()).isEqualTo(2);
    assertThat(refusals()).isZero();

    File finalized = new File(file.getParentFile(), "finalized");
    assertThat(file.renameTo(finalized)).isTrue();
    assertThat(LibC.writeLifetime(finalized)).isEqualTo(WriteLifetimeSink.MEDIUM);
  }

  @Test
  void aRefusalIsCounted() {
    DirectiveSink sink = sink(SinkChoice.BOTH);
    for (int i = 0; i < 3; i++) {
      assertThat(sink.apply(decided(ReadPattern.SEQUENTIAL), new File("/nowhere/blk_7")))
          .isNotEqualTo(Directive.NONE);
    }
    assertThat(refusals()).isEqualTo(3);
    assertThat(hints()).isZero();
  }
}
