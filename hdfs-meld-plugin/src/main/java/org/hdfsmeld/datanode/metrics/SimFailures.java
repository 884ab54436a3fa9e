package org.hdfsmeld.datanode.metrics;

import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a DataNode's log says about failures of the simulator: each kind once, however often it
 * happens, for a volume does many I/Os. Counters show the rest.
 */
public final class SimFailures {
  private static final Logger LOG = LoggerFactory.getLogger(SimFailures.class);

  private static final String DEVICE = "Simulated device of volume %s: ";

  private final Set<String> said = ConcurrentHashMap.newKeySet();

  /** No device could be opened; HDFS goes on. */
  public void notStarted(SimException e) {
    say(
        e.getMessage(),
        e,
        "The simulated device cannot be used: %s. HDFS goes on without simulation; correct this and"
            + " restart the DataNode.",
        e.getMessage());
  }

  /** Block I/O cannot be seen; HDFS goes on. */
  public void notForwarded(String message) {
    say(message, null, "%s HDFS goes on without simulation.", message);
  }

  /** A call failed with this status, by its name and text. */
  public void failed(String volume, String what, long status, String reason) {
    String kind = volume + " " + status;
    say(kind, null, DEVICE + "%s failed with %s. %s", volume, what, reason, remedy(status));
  }

  public void broken(String volume, Throwable e) {
    say(
        volume + " " + e.getClass(),
        e,
        "Simulated device of volume %s failed with %s. No data is affected. The volume goes on as"
            + " stock HDFS; check that the plugin's jar and libmeldsim belong together and restart"
            + " the DataNode.",
        volume,
        e);
  }

  public void unseen(String volume, String what) {
    say(
        volume + " unseen",
        null,
        "Simulated device of volume %s was not told of all that HDFS wrote: %s. No data is"
            + " affected. The measurements of this DataNode are wrong: use a version of Hadoop that"
            + " hdfs-meld supports. Said once; see the counter unseen_writes.",
        volume,
        what);
  }

  public void timedOut(String volume, MeldMode mode) {
    say(
        volume + " timeout " + mode,
        null,
        DEVICE
            + "a wait took longer than "
            + MeldKeys.WAIT_TIMEOUT
            + "; the call went on without it. %s Said once; see the counter timeouts.",
        volume,
        mode == MeldMode.REAL_TIME
            ? "Lower " + MeldKeys.TIME_DILATION + " or raise the timeout."
            : "The simulation cannot keep up with the I/O: give the DataNode more processor.");
  }

  public void stateNotWritten(String device, String what, Throwable e) {
    say(
        device + " " + what,
        e,
        DEVICE
            + "%s of its state could not be written: %s. No data is affected. After a restart,"
            + " blocks are laid out anew as far as the state on disk is older; make room or correct"
            + " the permissions. Said once; see the counter state_errors.",
        device,
        what,
        e);
  }

  /** A file of a device's state cannot be used. */
  public void stateRejected(Path file, Throwable e) {
    if (said.add(file.toString())) {
      LOG.warn(
          "The state of a simulated device in {} is not used: {}. No data is affected: blocks are"
              + " laid out anew from the replicas. Nothing needs to be done.",
          file,
          e.getMessage());
    }
  }

  /** A device's state has another past than the configuration says. */
  public void otherPast(
      String device, String recovered, String configured, String key, Path folder) {
    LOG.warn(
        "The simulated device {} has the past '{}', as its state says, and {} is '{}': the past that"
            + " it has counts. Set the key to that; or stop the DataNode and remove {} to begin"
            + " with a device of the other past.",
        device,
        recovered,
        key,
        configured,
        folder);
  }

  private static String remedy(long status) {
    if (SimStatus.isFatal(status)) {
      return "No data is affected. The volume goes on as stock HDFS; restart the DataNode to"
          + " simulate again.";
    }
    String then =
        status == SimStatus.CAPACITY
            ? "Use a profile with more capacity, or delete blocks."
            : "The call went on without the device.";
    return "No data is affected. " + then + " Said once; see the counter errors.";
  }

  /** Says it, with what was thrown; null for nothing. */
  private void say(String kind, Throwable e, String format, Object... arguments) {
    if (said.add(kind)) {
      LOG.error(String.format(format, arguments), e);
    }
  }
}
