package org.hdfsmeld.sim;

import java.io.IOException;

/** A simulator or a device that cannot be used; the message says what to do about it. */
public class SimException extends IOException {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * A failure with the simulator's own status.
   *
   * @param status one of {@link SimStatus}
   */
  public SimException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** A failure outside of the simulator, such as a library that cannot be loaded. */
  public SimException(String message, Throwable cause) {
    super(message, cause);
    this.status = SimStatus.OK;
  }

  /** The simulator's status, or {@link SimStatus#OK} when it was never reached. */
  public int status() {
    return status;
  }
}
