package org.hdfsmeld.spark;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The data that a job reads; the same parameter in every job. */
final class InputPaths {
  @Spec(Spec.Target.MIXEE)
  CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "PATH",
      description = "Files, or directories with files at any depth: any Hadoop paths.")
  List<String> paths;

  List<String> validated() {
    if (paths.stream().anyMatch(String::isBlank)) {
      throw new ParameterException(spec.commandLine(), "PATH: is empty; give a file or directory");
    }
    return paths;
  }
}
