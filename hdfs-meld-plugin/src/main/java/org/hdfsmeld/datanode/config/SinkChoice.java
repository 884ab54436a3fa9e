package org.hdfsmeld.datanode.config;

/** Which sinks get the directives of a DataNode's blocks. */
public enum SinkChoice {
  SIMULATOR,
  /** Linux, as the write-lifetime hint of the block's file. */
  WRITE_LIFETIME,
  BOTH,
  NONE;

  /** Whether this one of the two is among them. */
  public boolean has(SinkChoice sink) {
    return this == sink || this == BOTH;
  }
}
