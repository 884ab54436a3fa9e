package org.hdfsmeld.datanode;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.TraceStatus;
import org.hdfsmeld.trace.BlockTrace;

/** {@code hdfs meld -trace} on the DataNode: for the superuser only, in bounded answers. */
final class TraceAdmin {
  /** Most bytes of a trace file in one answer. */
  static final int PART_BYTES = 1 << 20;

  /** Who may ask. */
  interface Check {
    void check() throws IOException;
  }

  private final BlockTrace trace;
  private final Check superuser;

  TraceAdmin(BlockTrace trace, Check superuser) {
    this.trace = trace;
    this.superuser = superuser;
  }

  /** The methods of the protocol by their names. */
  Map<String, BytesService.Handler> handlers() {
    return Map.of(
        "startTrace", checked((request, response) -> start(response)),
        "stopTrace", checked((request, response) -> stop(response)),
        "traceStatus", checked((request, response) -> status().write(response)),
        "readTrace", checked(this::read));
  }

  private BytesService.Handler checked(BytesService.Handler handler) {
    return (request, response) -> {
      superuser.check();
      handler.handle(request, response);
    };
  }

  private void start(DataOutput response) throws IOException {
    try {
      trace.start();
    } catch (IllegalStateException e) {
      // The caller need not have our exception classes, and knows this one.
      throw new IOException(e.getMessage());
    }
    status().write(response);
  }

  private void stop(DataOutput response) throws IOException {
    trace.stop();
    status().write(response);
  }

  private void read(DataInput request, DataOutput response) throws IOException {
    byte[] part = trace.read(request.readUTF(), request.readLong(), PART_BYTES);
    response.writeInt(part.length);
    response.write(part);
  }

  private TraceStatus status() {
    return new TraceStatus(
        trace.isRecording(),
        trace.getRecords(),
        trace.getDroppedRecords(),
        trace.getLastError(),
        trace.getFiles());
  }
}
