package org.hdfsmeld.spark.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

/** Axes, the grid they span, and what a cell asks the simulator for. */
class TestGrid {
  @TempDir static Path directory;

  private static Axis axis(String text) {
    return new Axis.Converter().convert(text);
  }

  @Test
  void valuesOfOneKeyAreSplitAtCommasOutsideOfBrackets() {
    assertThat(axis("ftl.page_allocation=CWDP, PDWC").points())
        .containsExactly(List.of("CWDP"), List.of("PDWC"));
    assertThat(axis("timing.read=[\"58us\", \"78us\"],[\"1us\",\"2us\"]").points())
        .containsExactly(List.of("[\"58us\", \"78us\"]"), List.of("[\"1us\",\"2us\"]"));
    assertThat(axis("description=\"a,b\"").points()).containsExactly(List.of("\"a,b\""));
  }

  @Test
  void keysBetweenColonsChangeTogether() {
    Axis axis = axis("sets.layout:sets.count=baseline:1,vertical:4");
    assertThat(axis.at(1))
        .containsExactly(Map.entry("sets.layout", "vertical"), Map.entry("sets.count", "4"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "=1", "a=", "a=1,,2", "a:b=1", "a:b=1:2:3", "a:b=1:"})
  void whatIsNoAxisIsRefused(String text) {
    assertThatThrownBy(() -> axis(text)).isInstanceOf(TypeConversionException.class);
  }

  @Test
  void aGridFileHasAnAxisOnEachLine() throws Exception {
    Grid grid = new Grid();
    grid.spec = new picocli.CommandLine(new org.hdfsmeld.spark.Sweep()).getCommandSpec();
    grid.profiles = List.of("melded-tlc-8x8");
    grid.axes = List.of(axis("c=5"));
    String lines = "# devices\na.x=1,2\n\n  policy.y={u=1, v=2},{u=3, v=4}\njob.iodepth=1,4\n";
    grid.grid = Files.writeString(directory.resolve("grid"), lines);
    grid.validate(List.of("one.fio"));
    List<Cell> cells = grid.cells(List.of(job("one.fio")));
    assertThat(cells).hasSize(8);
    assertThat(cells.get(7).request().settings())
        .containsExactly("a.x=2", "policy.y={u=3, v=4}", "job.iodepth=4", "c=5");
    for (String line : List.of("a.x", "profile=a,b")) {
      grid.grid = Files.writeString(directory.resolve("wrong"), "a.x=1\n" + line + "\n");
      assertThatThrownBy(() -> grid.validate(List.of("one.fio"))).hasMessageContaining("wrong:2: ");
    }
    grid.grid = directory.resolve("none");
    assertThatThrownBy(() -> grid.validate(List.of("one.fio")))
        .hasMessageContaining("--grid: cannot read");
  }

  @Test
  void cellsAreTheProductOfTheAxes() throws Exception {
    Path profile = Files.writeString(directory.resolve("mine.toml"), "base = \"melded-tlc-8x8\"\n");
    Grid grid = new Grid();
    grid.profiles = List.of("melded-qlc-8x8", profile.toString());
    grid.axes = List.of(axis("a.x=1,2,3"), axis("b:c=4:5,6:7"));
    List<Cell> cells = grid.cells(List.of(job("one.fio"), job("two.fio")));
    assertThat(cells).hasSize(2 * 3 * 2 * 2).extracting(Cell::axes).doesNotHaveDuplicates();
    assertThat(cells.get(0).axes().toString())
        .isEqualTo("{profile=melded-qlc-8x8, a.x=1, b=4, c=5, job=one.fio}");
    assertThat(cells).extracting(Cell::number).isSorted().last().isEqualTo(23);
    CellRequest last = cells.get(23).request();
    assertThat(last.settings()).containsExactly("a.x=3", "b=6", "c=7");
    assertThat(last.profileText()).isEqualTo("base = \"melded-tlc-8x8\"\n");
    assertThat(last.command())
        .isEqualTo(
            "meldsim run --profile "
                + profile
                + " --set a.x=3 --set b=6 --set c=7 --job two.fio --seed 7 --format json");
  }

  @Test
  void commandsAreQuotedAsMeldsimQuotesThem() {
    CellRequest request =
        new CellRequest(
            "p",
            "p",
            new ArrayList<>(List.of("timing.read=[\"1us\"]")),
            "fill=50,random=0",
            job("it's.fio"));
    assertThat(request.command())
        .isEqualTo(
            "meldsim run --profile p --set 'timing.read=[\"1us\"]' --precondition fill=50,random=0"
                + " --job 'it'\\''s.fio' --seed 7 --format json");
  }

  @Test
  void requestsOfTracesNameTheFetchedFileAndEveryOption() throws Exception {
    LinkedHashMap<String, String> options = new LinkedHashMap<>();
    options.put("trace-format", "msr");
    options.put("iodepth", "16");
    options.put("speedup", "2.5");
    CellRequest request =
        new CellRequest(
            "p",
            "p",
            new ArrayList<>(),
            null,
            new CellRequest.Workload("trace", "hdfs://nn/a/b.csv", null, options));
    JsonNode json = new ObjectMapper().readTree(request.toJson(name -> "/here/" + name));
    assertThat(json.path("workload").path("trace").toString())
        .isEqualTo(
            "{\"name\":\"hdfs://nn/a/b.csv\",\"path\":\"/here/b.csv\",\"format\":\"msr\",\"iodepth\":16,"
                + "\"speedup\":\"2.5\"}");
    assertThat(json.path("command").asText()).isEqualTo(request.command());
  }

  private static CellRequest.Workload job(String path) {
    return new CellRequest.Workload(
        "job", path, "[one]\nsize=64k\n", new LinkedHashMap<>(Map.of("seed", "7")));
  }
}
