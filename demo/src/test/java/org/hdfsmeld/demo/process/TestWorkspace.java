package org.hdfsmeld.demo.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The temporary directory comes and goes. */
class TestWorkspace {
  @TempDir Path parent;

  @Test
  void deletesAllItHolds() throws Exception {
    Workspace workspace = Workspace.below(parent, 1);
    workspace.create();
    Files.createDirectories(workspace.resolve("a/b/c"));
    Files.writeString(workspace.resolve("a/b/c/file"), "x");
    assertThat(workspace.temporary()).isDirectory();
    workspace.delete();
    assertThat(parent).isEmptyDirectory();
    workspace.delete(); // a second time does no harm
  }

  @Test
  void asksForRoom() {
    assertThatThrownBy(() -> Workspace.below(parent, Long.MAX_VALUE))
        .hasMessageContaining("MiB free")
        .hasMessageContaining("--work-dir");
  }

  @Test
  void asksForADirectory() {
    assertThatThrownBy(() -> Workspace.below(parent.resolve("missing"), 1))
        .hasMessageContaining("not a writable directory");
  }
}
