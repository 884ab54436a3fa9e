package org.hdfsmeld.datanode.config;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/**
 * Which simulated device each volume lies on: the profile of one that is not bound, those of
 * devices that may be shared, the bound volumes in the order of the configuration, and what devices
 * have been through, single ones by their name or their volume's folder.
 */
public record DeviceConfiguration(
    String profile,
    Map<String, String> shared,
    Map<File, VolumeBinding> volumes,
    Precondition precondition,
    Map<String, Precondition> preconditions) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");
  private static final Pattern STORAGE_TYPE = Pattern.compile("^\\[\\w*]\\s*");
  private static final Pattern ON_SHARED = Pattern.compile("@([^/]+)(?:/(\\d{1,5}))?");

  static DeviceConfiguration read(Configuration conf) throws MeldConfigurationException {
    String profile = Values.text(conf, MeldKeys.PROFILE);
    if (profile.isEmpty()) {
      throw new MeldConfigurationException(
          MeldKeys.PROFILE,
          profile,
          "is empty; name a built-in profile or the path of a TOML file");
    }
    Map<String, String> shared = shared(conf);
    Map<File, VolumeBinding> volumes = volumes(conf, shared);
    Precondition past =
        Precondition.ofAll(MeldKeys.PRECONDITION, Values.text(conf, MeldKeys.PRECONDITION));
    return new DeviceConfiguration(
        profile, shared, volumes, past, preconditions(conf, shared, volumes));
  }

  /** What a device of that name, or of the volume in that folder, has been through. */
  public Precondition preconditionOf(String device) {
    return preconditions.getOrDefault(device, precondition);
  }

  public String preconditionKey(String device) {
    return preconditions.containsKey(device)
        ? MeldKeys.VOLUME_PRECONDITIONS
        : MeldKeys.PRECONDITION;
  }

  public VolumeBinding of(File volume) {
    File bound = bound(volume);
    return bound == null
        ? new VolumeBinding("", VolumeBinding.ANY_SET, profile)
        : volumes.get(bound);
  }

  /** The folder by which the volume is bound, be it by a link; null when it is not. */
  private File bound(File volume) {
    File absolute = volume.getAbsoluteFile();
    if (volumes.containsKey(absolute)) {
      return absolute;
    }
    Path real = real(absolute);
    return volumes.keySet().stream().filter(f -> real(f).equals(real)).findFirst().orElse(null);
  }

  private static Path real(File folder) {
    try {
      return folder.toPath().toRealPath();
    } catch (IOException e) {
      return folder.toPath().normalize();
    }
  }

  public List<File> unmatched(Collection<File> present) {
    Set<File> matched = present.stream().map(this::bound).collect(Collectors.toSet());
    return volumes.keySet().stream().filter(folder -> !matched.contains(folder)).toList();
  }

  /** The folders bound to a shared device, in the order of the configuration. */
  public List<File> foldersOn(String device) {
    return volumes.entrySet().stream()
        .filter(bound -> bound.getValue().isShared() && bound.getValue().device().equals(device))
        .map(Map.Entry::getKey)
        .toList();
  }

  public String profileKey(File volume) {
    if (of(volume).isShared()) {
      return MeldKeys.DEVICES;
    }
    return bound(volume) == null ? MeldKeys.PROFILE : MeldKeys.VOLUME_PROFILES;
  }

  /** An entry {@code name=value} of a key's list; the name may be empty. */
  private record Entry(String key, String text, String name, String value) {
    static List<Entry> list(Configuration conf, String key, ToIntFunction<String> split) {
      return conf.getTrimmedStringCollection(key).stream()
          .map(
              text -> {
                int at = split.applyAsInt(text);
                String name = text.substring(0, Math.max(0, at)).trim();
                return new Entry(key, text, name, text.substring(at + 1).trim());
              })
          .toList();
    }

    MeldConfigurationException problem(String problem) {
      return new MeldConfigurationException(key, text, problem);
    }
  }

  private static Map<String, String> shared(Configuration conf) throws MeldConfigurationException {
    Map<String, String> devices = new LinkedHashMap<>();
    for (Entry entry : Entry.list(conf, MeldKeys.DEVICES, text -> text.indexOf('='))) {
      if (!NAME.matcher(entry.name).matches() || entry.value.isEmpty()) {
        throw entry.problem(
            "is not of the form name=profile with a name of letters, digits, '_', '.' and '-', such"
                + " as ssd0=nvmset-2tb");
      }
      if (devices.put(entry.name, entry.value) != null) {
        throw entry.problem("names a device twice; remove one");
      }
    }
    return Map.copyOf(devices);
  }

  private static Map<File, VolumeBinding> volumes(Configuration conf, Map<String, String> shared)
      throws MeldConfigurationException {
    Map<File, VolumeBinding> volumes = new LinkedHashMap<>();
    for (Entry entry : Entry.list(conf, MeldKeys.VOLUME_PROFILES, text -> text.lastIndexOf('='))) {
      if (entry.name.isEmpty() || entry.value.isEmpty()) {
        throw entry.problem(
            "is not of the form directory=profile, such as /data/1=melded-tlc-8x8, or"
                + " directory=@device/set");
      }
      if (volumes.put(folder(entry.name), binding(entry, shared)) != null) {
        throw entry.problem("binds a directory twice; remove one");
      }
    }
    return volumes;
  }

  private static Map<String, Precondition> preconditions(
      Configuration conf, Map<String, String> shared, Map<File, VolumeBinding> volumes)
      throws MeldConfigurationException {
    Map<String, Precondition> preconditions = new LinkedHashMap<>();
    String key = MeldKeys.VOLUME_PRECONDITIONS;
    for (Entry entry : Entry.list(conf, key, text -> text.lastIndexOf('='))) {
      String target = entry.name;
      String device = target.startsWith("@") ? target.substring(1) : folder(target).getPath();
      VolumeBinding binding = volumes.get(new File(device));
      boolean known = target.startsWith("@") ? shared.containsKey(device) : !target.isEmpty();
      if (!known || binding != null && binding.isShared()) {
        throw entry.problem(
            "names no device; use the directory of a volume with a device of its own, or @ and a"
                + " name of "
                + MeldKeys.DEVICES);
      }
      preconditions.put(device, Precondition.ofOne(key, entry.text, entry.value));
    }
    return preconditions;
  }

  private static VolumeBinding binding(Entry entry, Map<String, String> shared)
      throws MeldConfigurationException {
    if (!entry.value.startsWith("@")) {
      return new VolumeBinding("", VolumeBinding.ANY_SET, entry.value);
    }
    Matcher on = ON_SHARED.matcher(entry.value);
    if (!on.matches()) {
      throw entry.problem(
          "is not of the form directory=@device/set, such as /data/1=@ssd0/1; NVM sets are numbered"
              + " from 0");
    }
    String device = on.group(1);
    String profile = shared.get(device);
    if (profile == null) {
      throw entry.problem(
          "is on a device '" + device + "' that " + MeldKeys.DEVICES + " does not name; add it");
    }
    int set = on.group(2) == null ? VolumeBinding.ANY_SET : Integer.parseInt(on.group(2));
    return new VolumeBinding(device, set, profile);
  }

  /** A folder as of {@code dfs.datanode.data.dir}: a path or a URI, perhaps with a storage type. */
  private static File folder(String entry) {
    String text = STORAGE_TYPE.matcher(entry).replaceFirst("");
    return (text.startsWith("file:") ? new File(URI.create(text).getPath()) : new File(text))
        .getAbsoluteFile();
  }
}
