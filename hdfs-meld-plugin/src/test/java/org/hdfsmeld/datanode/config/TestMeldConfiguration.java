package org.hdfsmeld.datanode.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.LogEvents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TestMeldConfiguration {
  @Test
  void defaultsAreThoseOfTheIssue() throws Exception {
    MeldConfiguration config = MeldConfiguration.read(new Configuration());
    assertThat(config.mode()).isEqualTo(MeldMode.ACCOUNT);
    assertThat(config.timeDilation()).isEqualTo(1.0);
    assertThat(config.devices().profile()).isEqualTo("melded-tlc-8x8");
    assertThat(config.hintFullBlockSequential()).isTrue();
    assertThat(config.hintMinBytes()).isEqualTo(2 << 20);
    assertThat(config.windowBytes()).isEqualTo(16 << 20);
    assertThat(config.requestBytes()).isEqualTo(1 << 20);
    assertThat(config.waitTimeoutNs()).isEqualTo(30_000_000_000L);
    assertThat(config.failFast()).isFalse();
    assertThat(config.nativeLibrary()).isEmpty();
    assertThat(config.slotBytes()).isEqualTo(128 << 20);
    assertThat(config.devices().volumes()).isEmpty();
    assertThat(config.placement())
        .isEqualTo(new PlacementConfiguration(Set.of("optane-900p"), 2 << 20, 256 << 10, 1 << 30));
    assertThat(config.hints()).isEqualTo(new HintConfiguration(50_000_000, 65_536));
  }

  @Test
  void defaultsDoNotOverrideTheFilesOfTheCluster() throws Exception {
    MeldConfiguration.read(new Configuration());
    // A default resource that is added after hdfs-site.xml would.
    assertThat(new Configuration().getPropsWithPrefix(MeldKeys.PREFIX)).isEmpty();
  }

  @Test
  void defaultsFileAndKeysAgree() throws Exception {
    Configuration file = new Configuration(false);
    file.addResource("meld-default.xml");
    Map<String, String> fromFile = new HashMap<>();
    file.forEach(e -> fromFile.put(e.getKey(), e.getValue()));

    Map<String, String> fromKeys = new HashMap<>(MeldKeys.DEFAULTS);
    // Hadoop reads an empty value as none.
    fromKeys.values().removeIf(String::isEmpty);
    assertThat(fromFile).isEqualTo(fromKeys);
    assertThat(new ConfigurationTable(Path.of("src/main/resources/meld-default.xml")).keys())
        .extracting(ConfigurationTable.Key::name)
        .containsExactlyInAnyOrderElementsOf(MeldKeys.DEFAULTS.keySet());
  }

  /** A key that is a constant of the class, and not in its map, would be refused. */
  @Test
  void everyConstantHasADefault() throws Exception {
    for (var field : MeldKeys.class.getFields()) {
      String key = (String) field.get(null);
      assertThat(key.equals(MeldKeys.PREFIX) || MeldKeys.defaultOf(key) != null).as(key).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "mode, fast, 'off, account, real-time'",
    "time-dilation, 0, 0.001",
    "time-dilation, -1, 0.001",
    "time-dilation, slow, 0.001",
    "profile, '', built-in",
    "hint.full-block-sequential, yes, true or false",
    "hint.min-bytes, 2MiB, 2m",
    "readahead.window, 0, 16m",
    "readahead.window, 64t, 16m",
    "readahead.request, 32m, readahead.window",
    "wait-timeout, 0, 30s",
    "wait-timeout, soon, 30s",
    "fail-fast, 1, true or false",
    "trace.max-files, 0, 16",
    "trace.max-files, many, 16",
    "trace.file-bytes, 1, 64m",
    "trace.buffer-records, 10, 65536",
    "volume.profiles, /data/1, directory=profile",
    "volume.profiles, /data/1=, directory=profile",
    "volume.profiles, =optane-900p, directory=profile",
    "volume.profiles, /data/1=@ssd0/1, dfs.datanode.meld.devices",
    "volume.profiles, /data/1=@ssd0/x, /data/1=@ssd0/1",
    "devices, ssd0, name=profile",
    "devices, ssd/0=nvmset-2tb, name=profile",
    "devices, ssd0=, name=profile",
    "precondition, full, fill=80",
    "precondition, 'fill=0', fill=80",
    "precondition, 'fill=101,random=100', 1 to 100",
    "precondition, 'fill=80,random=101', 0 to 100",
    "precondition, 'fill=80,skew', skew=zipf:0.9",
    "volume.preconditions, /data/1=80/100/, /data/1=80/100/zipf:0.9",
    "volume.preconditions, /data/1=0/0, /data/1=80/100",
    "volume.preconditions, /data/1=80, /data/1=80/100",
    "volume.preconditions, /data/1=any-none, /data/1=80/100",
    "volume.preconditions, @ssd9=80/100, dfs.datanode.meld.devices",
    "volume.preconditions, =80/100, dfs.datanode.meld.devices",
    "volume.preconditions, 80/100, dfs.datanode.meld.devices",
    "placement.small-bytes, 2MiB, 2m",
    "placement.optane-max-outstanding, -1, 256k",
    "placement.optane-reserved, much, 1g",
    "placement.hint-timeout, soon, 50ms",
    "hint.timeout, -1s, 50ms",
    "hint.cache-blocks, 0, 65536",
  })
  void aWrongValueNamesKeyValueAndRemedy(String key, String value, String remedy) {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.PREFIX + key, value);
    assertThatThrownBy(() -> MeldConfiguration.read(conf))
        .isInstanceOf(MeldConfigurationException.class)
        .hasMessageContaining(MeldKeys.PREFIX + key)
        .hasMessageContaining("'" + value + "'")
        .hasMessageContaining(remedy)
        .hasMessageNotContaining("\n");
  }

  @Test
  void volumesCanHaveProfilesOfTheirOwn() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.VOLUME_PROFILES, "/data/1=optane-900p, file:///data/a=b = /etc/flash.toml");
    MeldConfiguration config = MeldConfiguration.read(conf);
    assertThat(config.devices().of(new File("/data/1")).profile()).isEqualTo("optane-900p");
    assertThat(config.devices().of(new File("/data/a=b")).profile()).isEqualTo("/etc/flash.toml");
    assertThat(config.devices().of(new File("/data/2")).profile()).isEqualTo("melded-tlc-8x8");
  }

  @Test
  void volumesCanShareADevice() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.DEVICES, "ssd0=nvmset-2tb,ssd1=/etc/sets=4.toml");
    conf.set(
        MeldKeys.VOLUME_PROFILES, "/data/1=@ssd0/1,/data/2=@ssd0/1,/data/3=@ssd1,/data/4=optane");
    DeviceConfiguration devices = MeldConfiguration.read(conf).devices();
    assertThat(devices.of(new File("/data/1")))
        .isEqualTo(new VolumeBinding("ssd0", 1, "nvmset-2tb"));
    assertThat(devices.of(new File("/data/3")))
        .isEqualTo(new VolumeBinding("ssd1", VolumeBinding.ANY_SET, "/etc/sets=4.toml"));
    assertThat(devices.of(new File("/data/4")).isShared()).isFalse();
    assertThat(devices.foldersOn("ssd0")).containsExactly(new File("/data/1"), new File("/data/2"));
    assertThat(devices.profileKey(new File("/data/1"))).isEqualTo(MeldKeys.DEVICES);
    assertThat(devices.profileKey(new File("/data/4"))).isEqualTo(MeldKeys.VOLUME_PROFILES);
    assertThat(devices.profileKey(new File("/data/5"))).isEqualTo(MeldKeys.PROFILE);
  }

  @Test
  void devicesHaveAPast() throws Exception {
    Configuration conf = new Configuration();
    DeviceConfiguration fresh = MeldConfiguration.read(conf).devices();
    assertThat(fresh.preconditionOf("/data/1")).isEqualTo(Precondition.NONE);
    conf.set(MeldKeys.DEVICES, "ssd0=nvmset-2tb");
    conf.set(MeldKeys.PRECONDITION, "fill=100, random=50, skew=zipf:0.9");
    conf.set(
        MeldKeys.VOLUME_PRECONDITIONS, "/data/1/=80/0,/data/3=70/60/zoned:90/10:10/90,@ssd0=none");
    DeviceConfiguration used = MeldConfiguration.read(conf).devices();
    assertThat(used.preconditionOf("/data/1")).isEqualTo(new Precondition(80, 0, ""));
    assertThat(used.preconditionOf("/data/2")).isEqualTo(new Precondition(100, 50, "zipf:0.9"));
    assertThat(used.preconditionOf("/data/2")).hasToString("fill=100,random=50,skew=zipf:0.9");
    assertThat(used.preconditionOf("/data/3"))
        .isEqualTo(new Precondition(70, 60, "zoned:90/10:10/90"));
    assertThat(used.preconditionKey("/data/2")).isEqualTo(MeldKeys.PRECONDITION);
    assertThat(used.preconditionKey("/data/3")).isEqualTo(MeldKeys.VOLUME_PRECONDITIONS);
    assertThat(used.preconditionOf("ssd0")).isEqualTo(Precondition.NONE);
    conf.set(MeldKeys.PRECONDITION, "random=0");
    assertThat(MeldConfiguration.read(conf).devices().precondition())
        .isEqualTo(new Precondition(100, 0, ""));
    conf.set(MeldKeys.PRECONDITION, "fill=30");
    assertThat(MeldConfiguration.read(conf).devices().precondition())
        .isEqualTo(new Precondition(30, 100, ""));
  }

  @Test
  void aVolumeOfASharedDeviceHasNoPastOfItsOwn() {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.DEVICES, "ssd0=nvmset-2tb");
    conf.set(MeldKeys.VOLUME_PROFILES, "/data/1=@ssd0");
    conf.set(MeldKeys.VOLUME_PRECONDITIONS, "/data/1=80/100");
    assertThatThrownBy(() -> MeldConfiguration.read(conf))
        .isInstanceOf(MeldConfigurationException.class)
        .hasMessageContaining("a device of its own");
  }

  @Test
  void aDeviceNamedTwiceIsRefused() {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.DEVICES, "ssd0=nvmset-2tb,ssd0=melded-tlc-8x8");
    assertThatThrownBy(() -> MeldConfiguration.read(conf))
        .isInstanceOf(MeldConfigurationException.class)
        .hasMessageContaining("twice");
  }

  @Test
  void aVolumeBoundTwiceIsRefused() {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.VOLUME_PROFILES, "/data/1=optane-900p,/data/1/=flash-970pro");
    assertThatThrownBy(() -> MeldConfiguration.read(conf))
        .isInstanceOf(MeldConfigurationException.class)
        .hasMessageContaining("twice");
  }

  /** Configuration may come before the jar that knows it, or stay after it. */
  @ParameterizedTest
  @CsvSource({
    "hint.min-byte, unknown key, hint.min-bytes",
    "directive.sinks, removed, directives go to the simulated device alone"
  })
  void anUnknownKeyIsSaidAndCountedAndRefusedWhereTheStartFailsFast(
      String key, String problem, String remedy) throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.PREFIX + key, "2m");
    try (LogEvents log = new LogEvents(MeldConfiguration.class)) {
      assertThat(MeldConfiguration.read(conf).unknownKeys()).isEqualTo(1);
      assertThat(log.list())
          .singleElement()
          .satisfies(
              event ->
                  assertThat(event.getMessage().getFormattedMessage())
                      .contains(key + " = '2m': " + problem, remedy)
                      .endsWith("It does nothing here."));
    }
    conf.set(MeldKeys.FAIL_FAST, "true");
    assertThatThrownBy(() -> MeldConfiguration.read(conf))
        .isInstanceOf(MeldConfigurationException.class)
        .hasMessageContaining(key + " = '2m': " + problem);
    assertThat(MeldConfiguration.read(new Configuration()).unknownKeys()).isZero();
  }

  @Test
  void aRenamedKeyCountsUntilTheNewOneIsSet() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.PLACEMENT_HINT_TIMEOUT, "10ms");
    assertThat(MeldConfiguration.read(conf).hints().timeoutNs()).isEqualTo(10_000_000);
    conf.set(MeldKeys.HINT_TIMEOUT, "20ms");
    assertThat(MeldConfiguration.read(conf).hints().timeoutNs()).isEqualTo(20_000_000);
  }

  @Test
  void sizesTakeBinaryUnits() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.READAHEAD_WINDOW, "4m");
    conf.set(MeldKeys.READAHEAD_REQUEST, "65536");
    conf.set(MeldKeys.MODE, "Real-Time");
    MeldConfiguration config = MeldConfiguration.read(conf);
    assertThat(config.windowBytes()).isEqualTo(4 << 20);
    assertThat(config.requestBytes()).isEqualTo(64 << 10);
    assertThat(config.mode()).isEqualTo(MeldMode.REAL_TIME);
  }
}
