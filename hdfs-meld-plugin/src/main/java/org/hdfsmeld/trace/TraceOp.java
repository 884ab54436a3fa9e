package org.hdfsmeld.trace;

import java.util.Locale;

/** What a record of the trace says was done to a block. */
public enum TraceOp {
  READ,
  WRITE,
  /** What was written was made durable. */
  FLUSH,
  DELETE,
  /** The block was cut; the offset is its new length. */
  TRUNCATE,
  /** The file's descriptor was handed to a short-circuit reader, whose reads nobody sees. */
  OPEN;

  /** The name in trace files. */
  final String text = name().toLowerCase(Locale.ROOT);
}
