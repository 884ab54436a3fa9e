package org.hdfsmeld.datanode.device;

/** What windows and coalescers need from the device: tickets for commands that are under way. */
public interface TicketedIo {
  /** A ticket that stands for nothing to wait for. */
  long NOTHING = 0;

  /** Waits until the ticket's command is done, or until that has become pointless. */
  void await(long ticket);
}
