package org.hdfsmeld.hadoop;

import eu.maveniverse.maven.mima.context.Context;
import eu.maveniverse.maven.mima.context.ContextOverrides;
import eu.maveniverse.maven.mima.context.Runtimes;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.aether.RepositoryException;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.graph.Exclusion;
import org.eclipse.aether.resolution.ArtifactDescriptorRequest;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.util.artifact.JavaScopes;
import org.eclipse.aether.util.filter.DependencyFilterUtils;

/**
 * The jars of Hadoop's versions, as Maven resolves them: with the local repository of the build,
 * {@code -Dmeld.repository}, and its user's settings.
 */
public final class HadoopJars {
  /** The versions that the plugin is for, oldest first. */
  public static final List<String> VERSIONS =
      List.of("3.3.6", "3.4.0", "3.4.1", "3.4.2", "3.4.3", "3.5.0");

  private static final String GROUP = "org.apache.hadoop:";

  /** What Hadoop logs to, in place of which tests have log4j 2. */
  private static final List<Exclusion> LOGGING =
      Stream.of("slf4j-reload4j", "slf4j-log4j12")
          .map(artifact -> new Exclusion("org.slf4j", artifact, "*", "*"))
          .toList();

  private HadoopJars() {}

  /**
   * What a NameNode and a DataNode of a version have on their class paths, and some more.
   *
   * @param more Maven coordinates; {@code %s} stands for the version
   * @throws RepositoryException when one is neither here nor in a repository
   */
  public static List<Path> daemons(String version, String... more) throws RepositoryException {
    Stream<String> hadoop =
        Stream.of("hadoop-common", "hadoop-hdfs", "hadoop-hdfs-client")
            .map(artifact -> GROUP + artifact + ":%s");
    return resolve(
        version,
        Stream.concat(hadoop, Stream.of(more))
            .map(coordinates -> dependency(coordinates.formatted(version)))
            .toList());
  }

  /**
   * A cluster of a version in one JVM, with a KDC, and what its tests use.
   *
   * @param libraries Maven coordinates; they come first, and decide what both have
   * @throws RepositoryException as {@link #daemons}
   */
  public static List<Path> miniCluster(String version, List<String> libraries)
      throws RepositoryException {
    Stream<Dependency> hadoop =
        Stream.of("hadoop-minicluster", "hadoop-minikdc")
            .map(artifact -> dependency(GROUP + artifact + ":" + version).setExclusions(LOGGING));
    return resolve(
        version, Stream.concat(libraries.stream().map(HadoopJars::dependency), hadoop).toList());
  }

  private static Dependency dependency(String coordinates) {
    return new Dependency(new DefaultArtifact(coordinates), JavaScopes.RUNTIME);
  }

  private static List<Path> resolve(String version, List<Dependency> dependencies)
      throws RepositoryException {
    ContextOverrides settings =
        ContextOverrides.create()
            .withUserSettings(true)
            .withLocalRepositoryOverride(Path.of(System.getProperty("meld.repository")))
            .build();
    try (Context maven = Runtimes.INSTANCE.getRuntime().create(settings)) {
      CollectRequest tree = new CollectRequest();
      tree.setDependencies(dependencies);
      tree.setManagedDependencies(jackson(maven, version));
      tree.setRepositories(maven.remoteRepositories());
      DependencyRequest request =
          new DependencyRequest(tree, DependencyFilterUtils.classpathFilter(JavaScopes.RUNTIME));
      return maven
          .repositorySystem()
          .resolveDependencies(maven.repositorySystemSession(), request)
          .getArtifactResults()
          .stream()
          .map(result -> result.getArtifact())
          .filter(artifact -> artifact.getExtension().equals("jar"))
          .map(HadoopJars::file)
          .toList();
    }
  }

  /**
   * Jackson in the versions of Hadoop's own build, which a distribution has. By the published POMs
   * alone 3.4.0 and 3.4.1 get a core that is older than its databind, and do not start.
   */
  private static List<Dependency> jackson(Context maven, String version)
      throws RepositoryException {
    return maven
        .repositorySystem()
        .readArtifactDescriptor(
            maven.repositorySystemSession(),
            new ArtifactDescriptorRequest(
                new DefaultArtifact(GROUP + "hadoop-project:pom:" + version),
                maven.remoteRepositories(),
                null))
        .getManagedDependencies()
        .stream()
        .filter(managed -> managed.getArtifact().getGroupId().startsWith("com.fasterxml.jackson"))
        .toList();
  }

  private static Path file(Artifact artifact) {
    return artifact.getFile().toPath();
  }
}
