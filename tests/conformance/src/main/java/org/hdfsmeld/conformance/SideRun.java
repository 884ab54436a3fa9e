package org.hdfsmeld.conformance;

import java.util.Map;

/**
 * Tests of one class on one side.
 *
 * @param outcomes by JUnit's unique id
 * @param events sums of the plugin's counters; empty on stock
 * @param finished whether the JVM came to its end within the time limit
 * @param seconds wall time
 */
record SideRun(
    Map<String, TestOutcome> outcomes, Map<String, Long> events, boolean finished, long seconds) {

  TestOutcome outcome(String id) {
    TestOutcome outcome = outcomes.get(id);
    return outcome == null ? TestOutcome.notRun(id) : outcome;
  }

  long event(String counter) {
    return events.getOrDefault(counter, 0L);
  }

  /** Calls of HDFS on block files that the plugin saw. */
  long forwarded() {
    return event("forwarded_reads") + event("forwarded_writes");
  }
}
