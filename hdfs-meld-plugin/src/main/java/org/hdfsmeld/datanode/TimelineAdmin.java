package org.hdfsmeld.datanode;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.TraceStatus;

/** {@code hdfs meld -timeline} on the DataNode: for the superuser only, in bounded answers. */
final class TimelineAdmin {
  private final MeldVolumes volumes;
  private final TraceAdmin.Check superuser;

  TimelineAdmin(MeldVolumes volumes, TraceAdmin.Check superuser) {
    this.volumes = volumes;
    this.superuser = superuser;
  }

  /** The methods of the protocol by their names. */
  Map<String, BytesService.Handler> handlers() {
    return Map.of(
        "startTimeline",
        checked((request, response) -> change(this::start, response)),
        "stopTimeline",
        checked((request, response) -> change(this::stop, response)),
        "timelineStatus",
        checked((request, response) -> status().write(response)),
        "readTimeline",
        checked(this::read));
  }

  private BytesService.Handler checked(BytesService.Handler handler) {
    return (request, response) -> {
      superuser.check();
      handler.handle(request, response);
    };
  }

  private void start() {
    volumes.timeline().start(volumes.timelineDevices());
  }

  private void stop() {
    volumes.timeline().stop(volumes.timelineDevices());
  }

  private void change(Runnable action, DataOutput response) throws IOException {
    try {
      action.run();
    } catch (IllegalStateException e) {
      // The caller need not have our exception classes, and knows this one.
      throw new IOException(e.getMessage());
    }
    status().write(response);
  }

  private void read(DataInput request, DataOutput response) throws IOException {
    byte[] part =
        volumes.timeline().readFile(request.readUTF(), request.readLong(), TraceAdmin.PART_BYTES);
    response.writeInt(part.length);
    response.write(part);
  }

  private TraceStatus status() throws IOException {
    return new TraceStatus(
        volumes.timeline().isRecording(),
        volumes.timeline().records(),
        volumes.timeline().lost(),
        "",
        volumes.timeline().files());
  }
}
