package org.hdfsmeld.rpc;

import org.apache.hadoop.ipc.ProtocolInfo;
import org.apache.hadoop.thirdparty.protobuf.BytesValue;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** What {@code hdfs meld} asks DataNodes. {@link MeldDatanode} is the client's end. */
@ProtocolInfo(protocolName = "org.hdfsmeld.MeldDatanodeProtocol", protocolVersion = 2)
public interface MeldDatanodeProtocolPB {
  /**
   * How some blocks of one pool are laid out, as of {@link BlockLayout}. For the superuser, and for
   * whoever sends {@link BlockTokens} with READ access of them.
   */
  BytesValue blockLayouts(RpcController controller, BytesValue request) throws ServiceException;

  /** The volumes and what they count, as of {@link DatanodeReport}. */
  BytesValue report(RpcController controller, BytesValue request) throws ServiceException;

  // All others are for the superuser. Those that begin or end a recording, or ask for its status,
  // answer as of RecordingStatus; those that read answer with a part of a file, empty at its end.

  BytesValue startTrace(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue stopTrace(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue traceStatus(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue readTrace(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue startTimeline(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue stopTimeline(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue timelineStatus(RpcController controller, BytesValue request) throws ServiceException;

  BytesValue readTimeline(RpcController controller, BytesValue request) throws ServiceException;
}
