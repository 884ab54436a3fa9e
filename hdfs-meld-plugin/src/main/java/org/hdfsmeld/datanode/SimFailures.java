package org.hdfsmeld.datanode;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says each kind of simulator failure once, however often it happens: a volume does many I/Os. */
final class SimFailures {
  private static final Logger LOG = LoggerFactory.getLogger(SimFailures.class);

  private final Set<String> said = ConcurrentHashMap.newKeySet();

  /**
   * Logs a failure unless one of the same kind has been logged before.
   *
   * @param kind what counts as the same
   */
  void say(String kind, String message) {
    if (said.add(kind)) {
      LOG.error("{}", message);
    }
  }
}
