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

  /** Begins a block trace; answers as of {@link RecordingStatus}. For the superuser. */
  BytesValue startTrace(RpcController controller, BytesValue request) throws ServiceException;

  /** Ends the block trace; answers as of {@link RecordingStatus}. For the superuser. */
  BytesValue stopTrace(RpcController controller, BytesValue request) throws ServiceException;

  /** The block trace and its files, as of {@link RecordingStatus}. For the superuser. */
  BytesValue traceStatus(RpcController controller, BytesValue request) throws ServiceException;

  /** Begins a timeline; answers as of {@link RecordingStatus}. For the superuser. */
  BytesValue startTimeline(RpcController controller, BytesValue request) throws ServiceException;

  /** Ends the timeline; answers as of {@link RecordingStatus}. For the superuser. */
  BytesValue stopTimeline(RpcController controller, BytesValue request) throws ServiceException;

  /** The timeline and its files, as of {@link RecordingStatus}. For the superuser. */
  BytesValue timelineStatus(RpcController controller, BytesValue request) throws ServiceException;

  /** A part of a timeline's file, as of {@link #readTrace}. For the superuser. */
  BytesValue readTimeline(RpcController controller, BytesValue request) throws ServiceException;

  /** A part of a trace file: bounded, and empty at its end. For the superuser. */
  BytesValue readTrace(RpcController controller, BytesValue request) throws ServiceException;
}
