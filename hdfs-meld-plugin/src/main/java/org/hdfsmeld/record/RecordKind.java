package org.hdfsmeld.record;

import java.util.regex.Pattern;

/** A kind of recording, by the names of its files. Names of one kind sort by age. */
public enum RecordKind {
  /** A block trace: compressed lines, in files one after another. */
  TRACE("meld-trace-", "-[0-9]+\\.csv\\.gz"),
  /** A timeline: compressed lines of readers, and a file of each device. */
  TIMELINE("meld-timeline-", "(-[0-9]+\\.records|\\.jsonl\\.gz)");

  final String prefix;
  private final Pattern names;

  RecordKind(String prefix, String suffix) {
    this.prefix = prefix;
    this.names = Pattern.compile(prefix + "[0-9]{8}T[0-9]{9}Z" + suffix);
  }

  /** Whether a file of this kind may have that name; it has no folder then. */
  public boolean isName(String name) {
    return names.matcher(name).matches();
  }
}
