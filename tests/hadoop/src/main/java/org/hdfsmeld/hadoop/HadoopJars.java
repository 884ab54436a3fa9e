package org.hdfsmeld.hadoop;

import eu.maveniverse.maven.mima.context.Context;
import eu.maveniverse.maven.mima.context.ContextOverrides;
import eu.maveniverse.maven.mima.context.Runtimes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;
import org.eclipse.aether.util.artifact.JavaScopes;
import org.eclipse.aether.util.filter.DependencyFilterUtils;

/**
 * The jars of Hadoop's versions, as Maven resolves them: with the settings of its user, and the
 * local repository that the property {@code meld.repository} names.
 */
public final class HadoopJars {
  /** The versions that the plugin is for, oldest first. */
  public static final List<String> VERSIONS =
      List.of("3.3.6", "3.4.0", "3.4.1", "3.4.2", "3.4.3", "3.5.0");

  private static final List<String> NODES =
      List.of(
          "org.apache.hadoop:hadoop-common:%s",
          "org.apache.hadoop:hadoop-hdfs:%s", "org.apache.hadoop:hadoop-hdfs-client:%s");

  private HadoopJars() {}

  /**
   * What a NameNode and a DataNode of a version have on their class paths, and some more.
   *
   * @param more artifacts in Maven's notation; {@code %s} stands for the version
   * @throws DependencyResolutionException when one is neither here nor in a repository
   */
  public static List<Path> of(String version, List<String> more)
      throws DependencyResolutionException {
    List<String> artifacts = new ArrayList<>(NODES);
    artifacts.addAll(more);
    CollectRequest tree = new CollectRequest();
    for (String artifact : artifacts) {
      tree.addDependency(
          new Dependency(new DefaultArtifact(artifact.formatted(version)), JavaScopes.RUNTIME));
    }
    ContextOverrides settings =
        ContextOverrides.create()
            .withUserSettings(true)
            .withLocalRepositoryOverride(Path.of(System.getProperty("meld.repository")))
            .build();
    try (Context maven = Runtimes.INSTANCE.getRuntime().create(settings)) {
      tree.setRepositories(maven.remoteRepositories());
      DependencyRequest request =
          new DependencyRequest(tree, DependencyFilterUtils.classpathFilter(JavaScopes.RUNTIME));
      return maven
          .repositorySystem()
          .resolveDependencies(maven.repositorySystemSession(), request)
          .getArtifactResults()
          .stream()
          .map(result -> result.getArtifact().getFile().toPath())
          .toList();
    }
  }
}
