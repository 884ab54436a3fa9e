package org.hdfsmeld.datanode.device;

/** Wall time that one call of HDFS may still wait for the device. Not thread-safe. */
public final class WaitBudget {
  private final long limitNs;
  private long leftNs;

  /** A full budget; 0 for calls that must not wait. */
  public WaitBudget(long limitNs) {
    this.limitNs = limitNs;
    this.leftNs = limitNs;
  }

  /** The next call begins. */
  public void renew() {
    leftNs = limitNs;
  }

  /** Nanoseconds left, 0 when it is spent. */
  long leftNs() {
    return leftNs;
  }

  boolean isSpent() {
    return leftNs == 0;
  }

  void spend(long ns) {
    leftNs = Math.max(0, leftNs - ns);
  }
}
