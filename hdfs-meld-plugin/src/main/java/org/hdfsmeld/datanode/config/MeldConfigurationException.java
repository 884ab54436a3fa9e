package org.hdfsmeld.datanode.config;

import java.io.IOException;

/**
 * A configuration value that cannot be used. Names the key, the value and the remedy. A DataNode
 * refuses to start on it: the operator asked for something that does not exist.
 */
public final class MeldConfigurationException extends IOException {
  private static final long serialVersionUID = 1L;

  public MeldConfigurationException(String key, String value, String problem) {
    super(key + " = '" + value + "': " + problem);
  }
}
