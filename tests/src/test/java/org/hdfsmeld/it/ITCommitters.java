package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A job writes a table's partition, and others read it; what the job writes the next day is laid
 * out as that was read, whatever is renamed until it is there.
 */
class ITCommitters {
  private static final int FILES = 5;
  private static final int READS = 4;
  private static final int PREAD_BYTES = 16 << 10;
  private static final Path WAREHOUSE = new Path("/warehouse");

  private static MeldCluster cluster;
  private static FileSystem files;

  @BeforeAll
  static void start() {
    cluster =
        MeldCluster.builder()
            .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
            .meld("hint.timeout", "30s")
            .meld("hint.history.min-runs", "8")
            .start();
    files = cluster.fileSystem();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** How a job's task writes a file, and how it comes to where it is read. */
  private enum Writer {
    HADOOP {
      @Override
      void run(Path table, int day) throws IOException {
        hadoop(table, day, 1);
      }
    },
    HADOOP_IN_PLACE {
      @Override
      void run(Path table, int day) throws IOException {
        hadoop(table, day, 2);
      }
    },
    SPARK_DYNAMIC_OVERWRITE {
      @Override
      void run(Path table, int day) throws IOException {
        Path staging = new Path(table, ".spark-staging-" + UUID.randomUUID());
        hadoop(staging, day, 1);
        Path partition = new Path(table, "date=2026-11-" + day);
        files.delete(partition, true);
        assertThat(files.rename(new Path(staging, partition.getName()), partition)).isTrue();
        files.delete(staging, true);
      }
    },
    HIVE {
      @Override
      void run(Path table, int day) throws IOException {
        Path staging =
            new Path(table, ".hive-staging_hive_2026-11-" + day + "_10-00-00_123_456789-" + day);
        String partition = "date=2026-11-" + day;
        Path tasks = new Path(new Path(staging, "_task_tmp.-ext-10000"), partition);
        Path attempts = new Path(new Path(staging, "_tmp.-ext-10000"), partition);
        Path done = new Path(new Path(staging, "-ext-10000"), partition);
        files.mkdirs(attempts);
        files.mkdirs(done.getParent());
        for (int i = 0; i < FILES; i++) {
          Path written = new Path(tasks, "_tmp.00000" + i + "_0");
          write(written);
          assertThat(files.rename(written, new Path(attempts, "00000" + i + "_0"))).isTrue();
        }
        assertThat(files.rename(attempts, done)).isTrue();
        assertThat(files.rename(done, new Path(table, partition))).isTrue();
        files.delete(staging, true);
      }
    },
    /** Iceberg and Delta write where the file stays. */
    TABLE_FORMAT {
      @Override
      void run(Path table, int day) throws IOException {
        for (int i = 0; i < FILES; i++) {
          String name = "0000" + i + "-" + day + "-" + UUID.randomUUID() + "-00001.parquet";
          write(new Path(new Path(table, "data/date=2026-11-" + day), name));
        }
      }
    },
    /** Nobody's layout: what is known then is how blocks that began there were read. */
    OWN_STAGING {
      @Override
      void run(Path table, int day) throws IOException {
        Path work = new Path("/work/" + table.getName() + "-" + UUID.randomUUID());
        for (int i = 0; i < FILES; i++) {
          write(new Path(work, "chunk" + i));
        }
        Path partition = new Path(table, "date=2026-11-" + day);
        files.mkdirs(table);
        assertThat(files.rename(work, partition)).isTrue();
      }
    };

    abstract void run(Path table, int day) throws IOException;
  }

  private static void hadoop(Path output, int day, int algorithm) throws IOException {
    Configuration conf = new Configuration(files.getConf());
    conf.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, algorithm);
    JobID job = new JobID("2026112" + day + "10000" + day, day);
    FileOutputCommitter committer = null;
    TaskAttemptContext context = null;
    for (int i = 0; i < FILES; i++) {
      context =
          new TaskAttemptContextImpl(
              conf, new TaskAttemptID(new TaskID(job, TaskType.MAP, i), i % 2));
      committer = new FileOutputCommitter(output, context);
      if (i == 0) {
        committer.setupJob(context);
      }
      committer.setupTask(context);
      String name = "part-0000" + i + "-" + UUID.randomUUID() + ".c000.snappy.parquet";
      write(new Path(committer.getWorkPath(), "date=2026-11-" + day + "/" + name));
      committer.commitTask(context);
    }
    committer.commitJob(context);
  }

  private static void write(Path file) throws IOException {
    try (FSDataOutputStream out = files.create(file)) {
      out.write(Content.random(file.hashCode(), MeldCluster.BLOCK_BYTES));
    }
  }

  private static void readPoints(Path file) throws IOException {
    Random random = new Random(1);
    try (FSDataInputStream in = files.open(file)) {
      for (int i = 0; i < READS; i++) {
        int offset = random.nextInt(MeldCluster.BLOCK_BYTES - PREAD_BYTES);
        in.readFully(offset, new byte[PREAD_BYTES]);
      }
    }
  }

  private static Path anyFile(Path folder) throws IOException {
    for (FileStatus status : files.listStatus(folder)) {
      if (!status.getPath().getName().equals("_SUCCESS")) {
        return status.isDirectory() ? anyFile(status.getPath()) : status.getPath();
      }
    }
    throw new AssertionError(folder + " is empty");
  }

  private static void readAll(Path folder) throws IOException {
    for (FileStatus status : files.listStatus(folder)) {
      if (status.isDirectory()) {
        readAll(status.getPath());
      } else if (status.getLen() > 0) {
        readPoints(status.getPath());
      }
    }
  }

  private static String explain(Path file) throws Exception {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    ToolRunner.run(
        new Configuration(files.getConf()),
        new MeldAdmin(new PrintStream(said, true, StandardCharsets.UTF_8), System.err),
        new String[] {"-explain", file.toUri().getPath()});
    return said.toString(StandardCharsets.UTF_8);
  }

  private static void awaitRuns(long runs) {
    await().until(() -> Volumes.total("history_runs") == runs);
    await().until(() -> Volumes.total("crossover_bytes") > 0);
  }

  @ParameterizedTest
  @EnumSource
  void theNextDaysPartitionIsLaidOutAsTheFirstWasRead(Writer writer) throws Exception {
    Path table = new Path(WAREHOUSE, writer.name());
    long runs = Volumes.total("history_runs");
    Volumes.Since first = new Volumes.Since();
    writer.run(table, 1);
    assertThat(first.total("hints_full_block")).isEqualTo(FILES);
    readAll(table);
    awaitRuns(runs + FILES * READS);

    Volumes.Since second = new Volumes.Since();
    writer.run(table, 2);
    assertThat(second.total("hints_history")).isEqualTo(FILES);
    assertThat(second.total("unhinted_blocks")).isEqualTo(FILES);
    String said = explain(anyFile(table));
    assertThat(said)
        .contains("kind /warehouse/" + writer.name() + "/")
        .contains("date=#/")
        .contains(" runs of 0.016 MiB")
        .contains("of 5 blocks");
  }

  /** Its first reader ends before anybody knows where the file is. */
  @Test
  void aFileThatIsRenamedWhileItIsWrittenIsOfItsLastKind() throws Exception {
    Path from = new Path("/renaming/from/x");
    Path to = new Path("/renaming/to/x");
    files.mkdirs(to.getParent());
    try (FSDataOutputStream out = files.create(from)) {
      out.write(new byte[MeldCluster.BLOCK_BYTES / 2]);
      out.hflush();
      assertThat(files.rename(from, to)).isTrue();
      out.write(new byte[MeldCluster.BLOCK_BYTES / 2]);
    }
    await().until(() -> explain(to).contains("kind /renaming/to/x"));
    assertThat(files.rename(to, from)).isTrue();
    assertThat(explain(from)).contains("kind that it had under another path");
    long runs = Volumes.total("history_runs");
    readPoints(from);
    awaitRuns(runs + READS);
    await().until(() -> explain(from).contains("kind /renaming/from/x: 4 runs"));
  }

  @Test
  void whoMaySeeThePathSeesNoControlCharacters() throws Exception {
    Path file = new Path("/hostile/\u001b[2J" + "a".repeat(200) + "#");
    write(file);
    assertThat(explain(file)).contains("kind /hostile/?[#Ja");
  }
}
