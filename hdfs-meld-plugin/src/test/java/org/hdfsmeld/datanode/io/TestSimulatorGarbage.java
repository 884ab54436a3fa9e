package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.SimDevice;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.io.TempDir;

/** A simulator that answers nonsense hurts nobody. */
class TestSimulatorGarbage {
  private static final int BLOCK_BYTES = 4 << 20;

  /** Any number is an answer; now and then an exception is. */
  private static SimDevice nonsense(Random random) {
    FakeDevice device = new FakeDevice();
    return (SimDevice)
        java.lang.reflect.Proxy.newProxyInstance(
            SimDevice.class.getClassLoader(),
            new Class<?>[] {SimDevice.class},
            (proxy, method, arguments) -> {
              Class<?> type = method.getReturnType();
              if (type == int.class || type == long.class) {
                if (random.nextInt(500) == 0) {
                  throw new IllegalStateException("nonsense");
                }
                long any = random.nextLong() >> random.nextInt(64);
                return type == int.class ? (Object) (int) any : (Object) any;
              }
              return method.invoke(device, arguments);
            });
  }

  @TempDir File file;

  @RepeatedTest(20)
  void ioGoesOn(RepetitionInfo repetition) throws Exception {
    Random random = new Random(repetition.getCurrentRepetition());
    Configuration conf = new Configuration();
    conf.set(MeldKeys.WAIT_TIMEOUT, "10ms");
    try (MeldVolumes volumes =
        FakeDevice.volumes(MeldConfiguration.read(conf), () -> nonsense(random))) {
      volumes.add("DS-1", new File("/nowhere/current"));
      MeldVolume volume = volumes.holding(new File("/nowhere/current/BP-1/blk_1"));
      for (int block = 0; block < 8; block++) {
        BlockKey key = new BlockKey("BP-1", block);
        WriteStream writer = new WriteStream(volume, key, file, true, StreamUser.DATANODE);
        ReadStream reader =
            new ReadStream(volume, key, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
        for (int at = 0; at < BLOCK_BYTES; at += 64 << 10) {
          writer.write(at, 64 << 10);
          reader.consume(at, 64 << 10);
        }
        writer.sync();
        writer.close();
        reader.close();
        volume.truncated(key, block * 1000L);
        volume.deleted(key);
      }
      assertThat(
              FakeDevice.counters(volume).get("errors")
                  + FakeDevice.counters(volume).get("fallbacks"))
          .isPositive();
    }
  }
}
