package org.hdfsmeld.spark.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plugin does nothing where there is nothing to write to. */
class TestTimelinePlugin {
  @TempDir Path directory;

  @Test
  void withoutAFileNothingIsRecorded() throws Exception {
    doesNothing(new SparkConf(false));
  }

  @Test
  void fileThatCannotBeWrittenFailsNothing() throws Exception {
    doesNothing(
        new SparkConf(false)
            .set(TimelinePlugin.FILE_KEY, directory.resolve("missing/timeline.jsonl").toString()));
  }

  private static void doesNothing(SparkConf conf) throws Exception {
    PluginContext context = mock(PluginContext.class);
    when(context.conf()).thenReturn(conf);
    DriverPlugin driver = new TimelinePlugin().driverPlugin();
    Map<String, String> toExecutors = driver.init(null, context);
    assertThat(toExecutors).isEmpty();
    ExecutorPlugin executor = new TimelinePlugin().executorPlugin();
    executor.init(context, toExecutors);
    executor.onTaskStart();
    executor.onTaskSucceeded();
    assertThat(ReadLog.current()).isNull();
    executor.shutdown();
    driver.registerMetrics("app-1", context);
    assertThat(driver.receive("3 0 0 0\n")).isNull();
    driver.shutdown();
  }
}
