package org.hdfsmeld.sim;

/**
 * A victim policy of one's own: which superblock a log collects next. {@link SimRun#register} makes
 * it known to profiles, which name it as {@code gc.victim}. Each log has one, which one thread at a
 * time calls. What a method throws ends the run.
 */
public interface VictimPolicy {
  /**
   * A superblock that can be collected: closed, and with pages that are out of date.
   *
   * @param number its number in its log
   * @param closedAt when it was closed: pages that its log had been given by then
   * @param valid pages whose data is current
   * @param erases how often it has been erased
   * @param writtenAt the frontier that filled it; from 256 on one of garbage collection's
   */
  record Superblock(int number, long closedAt, int valid, int erases, int writtenAt) {}

  /** Makes the policy of a log. */
  @FunctionalInterface
  interface Factory {
    /**
     * The policy of a log of so many superblocks.
     *
     * @param options the profile's {@code [policy.NAME]}, as a JSON object
     */
    VictimPolicy make(int superblocks, int pagesPerSuperblock, String options);
  }

  /**
   * The numbers of at most {@code most} of these, the first to be collected first.
   *
   * @param now pages that the log has been given
   */
  int[] rank(Superblock[] candidates, int most, long now);

  /** Nothing more will be written to it before it is erased. */
  default void closed(Superblock superblock) {}

  /** A superblock has been erased. */
  default void erased(int number) {}
}
