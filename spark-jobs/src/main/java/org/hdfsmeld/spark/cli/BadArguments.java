package org.hdfsmeld.spark.cli;

import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Answers bad arguments with what is wrong and where help is, not with all of the help. */
public final class BadArguments implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException error, String[] arguments) {
    CommandLine command = error.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    command.getErr().println(name + ": " + error.getMessage());
    UnmatchedArgumentException.printSuggestions(error, command.getErr());
    command.getErr().println("Try: " + name + " --help");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }
}
