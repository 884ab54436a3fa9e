package org.hdfsmeld.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The four placements with a few seconds each. The contract's tail is tens of times lower: no
 * machine is so busy that it loses.
 */
class ITPlacementDemo {
  @TempDir Path directory;

  @Test
  void theContractBeatsTheOthersOnTheTailOfLookups() throws Exception {
    Path work = Files.createDirectory(directory.resolve("work"));
    DemoProcess demo =
        DemoProcess.start(
            directory,
            "placement",
            "--seconds=8",
            "--file-size=16",
            "--work-dir=" + work,
            "--json=result.json");
    assertThat(demo.waitFor()).as(demo.output()).isZero();
    assertThat(demo.output()).contains("time dilation", "assumption", "contract");
    assertThat(work).isEmptyDirectory();

    JsonNode result = new ObjectMapper().readTree(directory.resolve("result.json").toFile());
    assertThat(result.path("gain").asDouble()).as(demo.output()).isGreaterThan(1.5);
    // 4 files of 2 blocks; each device's share by placement.
    List<String> blocks =
        result.path("placements").findValues("blocks").stream().map(JsonNode::toString).toList();
    assertThat(blocks).containsExactly("[4,4]", "[4,4]", "[8,0]", "[4,4]");
  }
}
