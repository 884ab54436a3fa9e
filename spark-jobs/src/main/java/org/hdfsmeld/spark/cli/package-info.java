/**
 * What all command lines of the project share. In: arguments, errors, results as objects. Out:
 * values of options, messages, JSON, commands to repeat in a shell. No state: any thread of any
 * process.
 */
package org.hdfsmeld.spark.cli;
