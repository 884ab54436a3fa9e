package org.hdfsmeld.rpc;

import org.apache.hadoop.ipc.ProtocolInfo;
import org.apache.hadoop.thirdparty.protobuf.BytesValue;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** What {@code hdfs meld} asks DataNodes. {@link MeldDatanode} is the client's end. */
@ProtocolInfo(protocolName = "org.hdfsmeld.MeldDatanodeProtocol", protocolVersion = 1)
public interface MeldDatanodeProtocolPB {
  /** How some blocks of one pool are laid out, as of {@link BlockLayout}. */
  BytesValue blockLayouts(RpcController controller, BytesValue request) throws ServiceException;

  /** The volumes and what they count, as of {@link DatanodeReport}. */
  BytesValue report(RpcController controller, BytesValue request) throws ServiceException;
}
