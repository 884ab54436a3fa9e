package org.hdfsmeld.sim;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * One simulated device.
 *
 * <p>Calls of the I/O path return the C ABI's numbers instead of throwing: a ticket or a latency at
 * or above 0, an error of {@link SimStatus} below 0. They take and return primitives only and
 * allocate nothing. All methods may be called from any thread.
 */
public interface SimDevice extends AutoCloseable {
  /**
   * Creates a thin namespace. Namespaces go to the device's NVM sets in turn.
   *
   * @param sizeBytes its size, a multiple of the logical block
   * @throws SimException when the device refuses it
   */
  NamespaceInfo createNamespace(long sizeBytes) throws SimException;

  /**
   * Creates a thin namespace in an NVM set: what happens in one set does not delay another's.
   *
   * @param set its number, from 0 to {@link #sets} less 1
   * @param sizeBytes its size, a multiple of the logical block
   * @throws SimException when the device refuses it
   */
  NamespaceInfo createNamespaceIn(int set, long sizeBytes) throws SimException;

  /**
   * The number of NVM sets of the device, as its profile has it.
   *
   * @throws SimException when the device is out of service
   */
  int sets() throws SimException;

  /**
   * The namespaces of the device, in the order of their identifiers.
   *
   * @throws SimException when the device is out of service
   */
  List<NamespaceInfo> namespaces() throws SimException;

  /**
   * Submits a command, which reaches the device at the present simulated time.
   *
   * @param opcode one of {@link Opcode}
   * @param slba first logical block
   * @param nlb number of logical blocks
   * @param directive one of {@link Directive}; writes only
   * @param detached whether nobody will wait for it
   * @return a ticket above 0, 0 when detached, or a status below 0: {@link SimStatus#TIMEOUT} when
   *     the device, in real time, has no room for the command at present
   */
  long submit(int opcode, int nsid, long slba, int nlb, int directive, boolean detached);

  /**
   * Gives the device a ring, which stays as long as the device does.
   *
   * @throws SimException when the device is out of service
   */
  void attach(CommandRing ring) throws SimException;

  /**
   * Takes what is in the ring, moves time, and writes what is done and when there is more to do. In
   * real-time mode it goes on looking for {@code spinNs} after the last thing that happened, and
   * while something is due within that time. By one thread at a time.
   *
   * @param longestNs it returns after that
   * @return wall nanoseconds until there is more to do, or a status below 0
   */
  long runRing(long spinNs, long longestNs);

  /**
   * Waits for a ticket.
   *
   * @param timeoutNs wall nanoseconds
   * @return the latency of the ticket's slowest command in simulated picoseconds, or a status below
   *     0; after {@link SimStatus#TIMEOUT} the ticket stays valid
   */
  long await(long ticket, long timeoutNs);

  /** Places data as if long since written; takes no simulated time. Returns a status. */
  int preload(int nsid, long slba, long nlb, int directive);

  /**
   * How the flash pages are laid out that a range lies in. Takes time in proportion to the range,
   * in which the device serves nobody else.
   *
   * @param out gets the pages that hold data; of those the ones in the write buffer, which have no
   *     layout yet; of those the ones that are melded
   * @return a status
   */
  int layout(int nsid, long slba, long nlb, long[] out);

  /**
   * Puts the device into the state of one that has been used for long; what its namespaces held is
   * gone. Completes everything outstanding first; takes no simulated time.
   *
   * @param past as of {@code meldsim run --precondition}, such as {@code fill=100,random=75}
   * @throws SimException when the device refuses it
   */
  void precondition(String past) throws SimException;

  /**
   * The device's profile as TOML, with every key.
   *
   * @throws SimException when the device is out of service
   */
  String profile() throws SimException;

  /**
   * What would survive if the power were cut now: all data whose write has been acknowledged, the
   * wear of the blocks, the namespaces and the profile. To ask for its size alone costs as much.
   *
   * @param out a direct buffer, filled from its beginning; left alone when it has too little room
   * @return bytes of the snapshot
   * @throws SimException when the device is out of service
   */
  long snapshot(ByteBuffer out) throws SimException;

  /**
   * Chooses who moves simulated time.
   *
   * @param realTime true: the wall clock; false: waits move it as far as they need
   * @param timeDilation wall seconds per simulated second in real time
   * @return a status
   */
  int setMode(boolean realTime, double timeDilation);

  /** The names of the device's counters, in the order of {@link #stats}. */
  List<String> statNames();

  /**
   * Fills in the device's counters, as many as fit; {@link #statNames} says which they are.
   *
   * @return how many there are, or a status below 0
   */
  int stats(long[] out);

  /** The names of a namespace's counters, in the order of {@link #namespaceStats}. */
  List<String> namespaceStatNames();

  /**
   * Fills in a namespace's counters, as many as fit; {@link #namespaceStatNames} says which they
   * are.
   *
   * @return how many there are, or a status below 0
   */
  int namespaceStats(int nsid, long[] out);

  /**
   * The latency that this share of the reads or writes did not exceed, of all that completed since
   * the device was opened.
   *
   * @param opcode {@link Opcode#READ} or {@link Opcode#WRITE}
   * @param quantile 0 to 1
   * @return simulated picoseconds, 0 when there were none, or a status below 0
   */
  long latencyPs(int opcode, double quantile);

  /**
   * Keeps what every channel, die and command does from now on, in at most {@code bytes} bytes.
   *
   * @return a status; {@link SimStatus#ARGUMENT} for memory that is no flash
   */
  int startTimeline(long bytes);

  /**
   * Ends that, and writes it to a new file.
   *
   * @return records in the file, 0 and no file where nothing was kept, or a status below 0
   */
  long stopTimeline(String file);

  /**
   * What a call of the I/O path returned.
   *
   * @throws SimException when that is an error
   */
  default long checked(long outcome) throws SimException {
    if (outcome < 0) {
      throw new SimException((int) outcome, lastError());
    }
    return outcome;
  }

  /** Text of this thread's last failure. */
  String lastError();

  /** Closes the device; waiters return {@link SimStatus#CLOSED}. May be called more than once. */
  @Override
  void close();
}
