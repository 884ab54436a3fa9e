package org.hdfsmeld.datanode.io;

import org.hdfsmeld.datanode.device.TicketedIo;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.ExtentIo;
import org.hdfsmeld.datanode.layout.VolumeBlocks;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.timeline.BlockRead;
import org.hdfsmeld.timeline.DatanodeTimeline;

/** What a reader of a block says to the DataNode's timeline, while one is recorded. */
final class ReaderTimeline {
  private final DatanodeTimeline timeline;
  private final int volume;

  /** 0 before the reader has read while a timeline was recorded. */
  private long reader;

  private long beginNs;
  private long offset;
  private long bytes;

  ReaderTimeline(MeldVolume volume) {
    this.timeline = volume.timeline();
    this.volume = volume.device().number();
  }

  /** Bytes are about to be read. */
  void reading(long from, int length) {
    if (!timeline.isRecording()) {
      return;
    }
    if (reader == 0) {
      reader = timeline.newReader();
      beginNs = System.nanoTime();
      offset = from;
    }
    bytes += length;
  }

  /** A time for {@link #waited}; 0 when no timeline is recorded. */
  long now() {
    return timeline.isRecording() ? System.nanoTime() : 0;
  }

  void requested(VolumeBlocks blocks, BlockExtent extent, long from, int length, long ticket) {
    if (reader != 0 && ticket > TicketedIo.NOTHING && timeline.isRecording()) {
      long ns = System.nanoTime();
      ExtentIo.Command command = blocks.io().lastCommand(extent, from, length);
      timeline.requested(reader, volume, ticket, ns, command.startByte(), command.bytes());
    }
  }

  void waited(long ticket, long sinceNs) {
    if (sinceNs != 0 && reader != 0 && ticket != TicketedIo.NOTHING) {
      timeline.waited(reader, volume, ticket, sinceNs, System.nanoTime());
    }
  }

  void ended(BlockKey block, StreamUser user) {
    if (reader != 0) {
      timeline.read(
          reader,
          volume,
          new BlockRead(
              block.pool(),
              block.id(),
              user.client(),
              user.kind().text(),
              beginNs,
              System.nanoTime(),
              offset,
              bytes));
    }
  }
}
