package org.hdfsmeld.rpc;

import org.apache.hadoop.ipc.ProtocolInfo;
import org.apache.hadoop.thirdparty.protobuf.BytesValue;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** What DataNodes ask the NameNode: how blocks will be read. Encoded by {@link ReadPatterns}. */
@ProtocolInfo(protocolName = "org.hdfsmeld.ReadPatternProtocol", protocolVersion = 1)
public interface ReadPatternProtocolPB {
  /** The hints of some blocks of one pool. */
  BytesValue readPatterns(RpcController controller, BytesValue request) throws ServiceException;
}
