package org.hdfsmeld.datanode.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.LastErrorException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TestWriteLifetimeSink {
  // In target/, as on a DataNode's disk: memory file systems know no hints.
  @TempDir(factory = BesideTheClasses.class)
  Path dir;

  private final Counters<VolumeCounter> counters = new Counters<>(VolumeCounter.class);
  private final WriteLifetimeSink sink =
      new WriteLifetimeSink("/data/1", counters, new SimFailures());
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
  void itNeitherThrowsNorTouchesAByte(ReadPattern pattern) throws IOException {
    for (File target : new File[] {file, new File("/nowhere/blk_7")}) {
      assertThatCode(() -> sink.apply(decided(pattern), target)).doesNotThrowAnyException();
    }
    assertThat(Files.readString(file.toPath())).isEqualTo("data");
  }

  @ParameterizedTest
  @EnumSource(names = {"NONE", "UNKNOWN"})
  void whatIsNotKnownIsNotSaid(ReadPattern pattern) {
    sink.apply(decided(pattern), file);
    assertThat(hints() + refusals()).isZero();
  }

  /** The hint of a file's inode; 0 when it has none. */
  private static long writeLifetime(File of) {
    int fd = LibC.open(LibC.path(of), 0);
    try {
      long[] hint = {0};
      LibC.fcntl(fd, LibC.F_GET_RW_HINT, hint);
      return hint[0];
    } finally {
      LibC.close(fd);
    }
  }

  @Test
  void theKernelHasTheHint() {
    assumeTrue(kernelKeepsHints(), "this kernel or file system keeps no write-lifetime hints");
    sink.apply(decided(ReadPattern.SEQUENTIAL), file);
    assertThat(writeLifetime(file)).isEqualTo(WriteLifetimeSink.EXTREME);
    sink.apply(decided(ReadPattern.RANDOM), file);
    assertThat(writeLifetime(file)).isEqualTo(WriteLifetimeSink.MEDIUM);
    sink.apply(decided(ReadPattern.NONE), file);
    assertThat(writeLifetime(file)).as("left alone").isEqualTo(WriteLifetimeSink.MEDIUM);
    assertThat(hints()).isEqualTo(2);
    assertThat(refusals()).isZero();

    File finalized = new File(file.getParentFile(), "finalized");
    assertThat(file.renameTo(finalized)).isTrue();
    assertThat(writeLifetime(finalized)).isEqualTo(WriteLifetimeSink.MEDIUM);
  }

  @Test
  void aRefusalIsCounted() {
    for (int i = 0; i < 3; i++) {
      sink.apply(decided(ReadPattern.SEQUENTIAL), new File("/nowhere/blk_7"));
    }
    assertThat(refusals()).isEqualTo(3);
    assertThat(hints()).isZero();
  }
}
