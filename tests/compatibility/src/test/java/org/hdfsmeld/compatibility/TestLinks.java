package org.hdfsmeld.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.aether.RepositoryException;
import org.hdfsmeld.hadoop.HadoopJars;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** The plugin, built once, links with the jars of every Hadoop version that it is for. */
class TestLinks {
  private static final List<String> VERSIONS = HadoopJars.VERSIONS;

  private static final String DATASET =
      "org/apache/hadoop/hdfs/server/datanode/fsdataset/impl/MeldFsDataset";
  private static final String CREATE_RBW =
      ".createRbw(Lorg/apache/hadoop/fs/StorageType;Ljava/lang/String;"
          + "Lorg/apache/hadoop/hdfs/protocol/ExtendedBlock;ZJ)"
          + "Lorg/apache/hadoop/hdfs/server/datanode/ReplicaHandler;";
  private static final String MOVE_BLOCK =
      ".moveBlock(Lorg/apache/hadoop/hdfs/protocol/ExtendedBlock;"
          + "Lorg/apache/hadoop/hdfs/server/datanode/ReplicaInfo;"
          + "Lorg/apache/hadoop/hdfs/server/datanode/fsdataset/FsVolumeReference;Z)"
          + "Lorg/apache/hadoop/hdfs/server/datanode/ReplicaInfo;";

  private static final String INVALIDATE_MISSING_BLOCK =
      ".invalidateMissingBlock(Ljava/lang/String;Lorg/apache/hadoop/hdfs/protocol/Block;)V";

  /**
   * Overrides of what older versions do not have: the versions in which they override nothing, and
   * so are never called.
   */
  private static final Map<String, Set<String>> NEWER =
      Map.of(
          // These call the one without a generation stamp, which is overridden too.
          DATASET + CREATE_RBW, Set.of("3.3.6", "3.4.0"),
          // A replica without files is deleted there as any other.
          DATASET + INVALIDATE_MISSING_BLOCK, Set.of("3.3.6"),
          // Blocks do not move between volumes of one mount by a hard link there.
          DATASET + MOVE_BLOCK, Set.of("3.3.6"));

  private static final Path PLUGIN = Path.of(System.getProperty("meld.plugin"));
  private static final Path SIMULATOR = Path.of(System.getProperty("meld.simulator"));
  private static final Path JNA = Path.of(System.getProperty("meld.jna"));
  private static final Map<String, ClassFiles> HADOOP = new LinkedHashMap<>();
  private static List<String> plugin;

  @BeforeAll
  static void resolve() throws IOException, RepositoryException {
    plugin = new ArrayList<>(ClassFiles.names(PLUGIN));
    plugin.addAll(ClassFiles.names(SIMULATOR));
    for (String version : VERSIONS) {
      List<Path> path = new ArrayList<>(List.of(PLUGIN, SIMULATOR, JNA));
      path.addAll(HadoopJars.daemons(version));
      HADOOP.put(version, new ClassFiles(path));
    }
  }

  @AfterAll
  static void close() throws IOException {
    for (ClassFiles classes : HADOOP.values()) {
      classes.close();
    }
  }

  @Test
  void thereIsSomethingToLink() {
    assertThat(plugin).hasSizeGreaterThan(100).contains(DATASET, "org/hdfsmeld/sim/SimDevice");
  }

  @ParameterizedTest
  @FieldSource("VERSIONS")
  void everySymbolResolves(String version) {
    LinkCheck links = new LinkCheck(HADOOP.get(version));
    List<String> problems = new ArrayList<>();
    for (String name : plugin) {
      for (LinkCheck.Problem problem : links.problems(HADOOP.get(version).find(name))) {
        if (!NEWER.getOrDefault(problem.in(), Set.of()).contains(version)) {
          problems.add(problem.toString());
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  /** Metrics2 asks the dataset for its methods, and that loads every type they name. */
  @ParameterizedTest
  @FieldSource("VERSIONS")
  void everyClassTellsItsMembers(String version) {
    List<String> problems = new ArrayList<>();
    int members = 0;
    for (String name : plugin) {
      try {
        Class<?> type = HADOOP.get(version).load(name);
        members +=
            type.getDeclaredMethods().length
                + type.getDeclaredFields().length
                + type.getDeclaredConstructors().length;
      } catch (ClassNotFoundException | LinkageError e) {
        problems.add(name + ": " + e);
      }
    }
    assertThat(problems).isEmpty();
    assertThat(members).isGreaterThan(plugin.size());
  }

  /** An override of what a version does not have is no error there: it is just never called. */
  @Test
  void everyOverrideOverrides() {
    Map<String, Set<String>> overriddenIn = new TreeMap<>();
    for (String version : VERSIONS) {
      LinkCheck links = new LinkCheck(HADOOP.get(version));
      for (String name : plugin) {
        ClassNode type = HADOOP.get(version).find(name);
        for (MethodNode method : type.methods) {
          if (virtual(method) && links.overrides(type, method, TestLinks::ofHadoop)) {
            overriddenIn
                .computeIfAbsent(name + "." + method.name + method.desc, m -> new TreeSet<>())
                .add(version);
          }
        }
      }
    }
    Map<String, Set<String>> overridesNothingIn = new TreeMap<>();
    overriddenIn.forEach(
        (method, versions) -> {
          Set<String> others = new TreeSet<>(VERSIONS);
          others.removeAll(versions);
          if (!others.isEmpty()) {
            overridesNothingIn.put(method, others);
          }
        });
    assertThat(overriddenIn).hasSizeGreaterThan(20);
    assertThat(overridesNothingIn).isEqualTo(NEWER);
  }

  private static boolean virtual(MethodNode method) {
    return (method.access & (Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC)) == 0
        && !method.name.startsWith("<");
  }

  private static boolean ofHadoop(String type) {
    return type.startsWith("org/apache/hadoop/") && !plugin.contains(type);
  }

  /** The one member that the plugin reaches by reflection. */
  @ParameterizedTest
  @FieldSource("VERSIONS")
  void theProviderOfFileIoIsAFieldOfTheDataNode(String version)
      throws ReflectiveOperationException {
    Class<?> dataNode = HADOOP.get(version).load("org/apache/hadoop/hdfs/server/datanode/DataNode");
    Field field = dataNode.getDeclaredField("fileIoProvider");
    assertThat(field.getType().getName())
        .isEqualTo("org.apache.hadoop.hdfs.server.datanode.FileIoProvider");
    assertThat(Modifier.isStatic(field.getModifiers())).isFalse();
  }
}
