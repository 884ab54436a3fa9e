package org.hdfsmeld.spark.sweep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Tasks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spreads the cells of a grid over the executors. Cells cost very different times, so they are
 * dealt at random, always the same way, to many more tasks than there are slots.
 */
final class Simulations {
  private static final Logger LOG = LoggerFactory.getLogger(Simulations.class);
  private static final int TASKS_A_SLOT = 16;
  private static final long SHUFFLE_SEED = 1;

  private Simulations() {}

  /**
   * A grid's table.
   *
   * @param cells how many there are
   * @param refused how many of them have an error in place of figures
   * @param wallSeconds measured, of the stage that simulated
   * @param taskSeconds measured, run time summed over its tasks
   * @param rows simulated, one a cell in the order of the grid
   */
  record Result(
      int cells, int refused, double wallSeconds, double taskSeconds, List<CellRow> rows) {}

  /** Runs all cells with a session of the caller, which stays open. */
  static Result run(SparkSession session, String name, List<Cell> cells) throws Exception {
    SparkContext context = session.sparkContext();
    List<ArrayList<Cell>> batches =
        dealt(cells, Math.min(cells.size(), TASKS_A_SLOT * context.defaultParallelism()));
    Progress progress = new Progress(name, batches.size());
    context.addSparkListener(progress);
    Measured<List<ArrayList<CellRow>>> measured;
    try {
      measured =
          Measured.run(
              context,
              name + " of " + cells.size() + " cells",
              () -> Tasks.run(context, batches, (batch, conf) -> simulate(batch)));
    } finally {
      context.removeSparkListener(progress);
    }
    List<CellRow> rows = new ArrayList<>();
    measured.value().forEach(rows::addAll);
    rows.sort(Comparator.comparingInt(CellRow::cell));
    int refused = (int) rows.stream().filter(row -> row.error() != null).count();
    if (refused == rows.size()) {
      throw new IOException("no cell runs; the first one: " + rows.get(0).error());
    }
    return new Result(
        rows.size(),
        refused,
        measured.wallSeconds(),
        StageThroughput.taskSeconds(measured.stages()),
        rows);
  }

  private static ArrayList<CellRow> simulate(List<Cell> batch) throws IOException {
    ArrayList<CellRow> rows = new ArrayList<>();
    for (Cell cell : batch) {
      rows.add(cell.simulate());
    }
    return rows;
  }

  private static List<ArrayList<Cell>> dealt(List<Cell> cells, int hands) {
    List<Cell> shuffled = new ArrayList<>(cells);
    Collections.shuffle(shuffled, new Random(SHUFFLE_SEED));
    List<ArrayList<Cell>> dealt = new ArrayList<>();
    for (int i = 0; i < hands; i++) {
      dealt.add(new ArrayList<>());
    }
    for (int i = 0; i < shuffled.size(); i++) {
      dealt.get(i % hands).add(shuffled.get(i));
    }
    return dealt;
  }

  /** Logs each tenth of the tasks. */
  private static final class Progress extends SparkListener {
    private final String name;
    private final int tasks;
    private final AtomicInteger done = new AtomicInteger();

    Progress(String name, int tasks) {
      this.name = name;
      this.tasks = tasks;
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      int now = done.incrementAndGet();
      if (now * 10 / tasks > (now - 1) * 10 / tasks) {
        LOG.info("{}: {} of {} tasks done", name, now, tasks);
      }
    }
  }
}
