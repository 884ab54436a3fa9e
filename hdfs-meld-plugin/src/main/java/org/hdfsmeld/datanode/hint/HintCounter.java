package org.hdfsmeld.datanode.hint;

/** What a DataNode counts of its questions to the NameNodes. */
enum HintCounter {
  /** Hints that were wanted, and of those the ones that were here already. */
  ASKED,
  HITS,
  /** Blocks that were created without waiting any longer. */
  TIMEOUTS,
  /** Requests to NameNodes that failed. */
  FAILURES,
  /** Questions given up because too many were open. */
  DROPPED,
  /** Blocks whose attribute has a value that is no read pattern. */
  INVALID
}
