package org.hdfsmeld.compatibility;

import eu.maveniverse.maven.mima.context.Context;
import eu.maveniverse.maven.mima.context.ContextOverrides;
import eu.maveniverse.maven.mima.context.Runtimes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;
import org.eclipse.aether.util.artifact.JavaScopes;
import org.eclipse.aether.util.filter.DependencyFilterUtils;

/**
 * The jars of Hadoop's versions, as Maven resolves them: with the local repository of the build
 * that runs the tests, and its user's settings.
 */
final class HadoopJars {
  /** The versions that the plugin is for, oldest first. */
  static final List<String> VERSIONS =
      List.of("3.3.6", "3.4.0", "3.4.1", "3.4.2", "3.4.3", "3.5.0");

  private HadoopJars() {}

  /**
   * What a NameNode and a DataNode of a version have on their class paths, and the plugin's own
   * dependency.
   */
  static List<Path> of(String version) throws DependencyResolutionException {
    List<Path> jars = new ArrayList<>();
    jars.add(Path.of(System.getProperty("meld.jna")));
    CollectRequest tree = new CollectRequest();
    for (String artifact : List.of("hadoop-common", "hadoop-hdfs", "hadoop-hdfs-client")) {
      tree.addDependency(
          new Dependency(
              new DefaultArtifact("org.apache.hadoop", artifact, "jar", version),
              JavaScopes.RUNTIME));
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
      Stream<ArtifactResult> resolved =
          maven
              .repositorySystem()
              .resolveDependencies(maven.repositorySystemSession(), request)
              .getArtifactResults()
              .stream();
      resolved.map(result -> result.getArtifact().getFile().toPath()).forEach(jars::add);
    }
    return jars;
  }
}
