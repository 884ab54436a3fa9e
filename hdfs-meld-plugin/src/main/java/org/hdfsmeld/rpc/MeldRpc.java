package org.hdfsmeld.rpc;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.EOFException;
import java.io.IOException;
import java.io.UTFDataFormatException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.retry.RetryPolicies;
import org.apache.hadoop.ipc.Client.ConnectionId;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.BytesValue;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/**
 * A client's end of one of the plugin's protocols.
 *
 * <p>It is spoken over a connection of a protocol that Hadoop's server knows: authentication,
 * Kerberos principals and service authorization are that one's. A protocol of our own in the access
 * control lists would not last: {@code hdfs dfsadmin -refreshServiceAcl} reads Hadoop's again.
 *
 * @param <P> the plugin's protocol
 */
public final class MeldRpc<P> implements AutoCloseable {
  @FunctionalInterface
  public interface Method<P> {
    BytesValue call(P proxy, RpcController controller, BytesValue request) throws ServiceException;
  }

  private final Object carrier;
  private final P proxy;

  /**
   * Connects with the first call, as the user of this process, over a connection of {@code
   * carrier}, a protocol of Hadoop's.
   */
  public MeldRpc(
      Configuration conf,
      Class<?> carrier,
      Class<P> protocol,
      InetSocketAddress server,
      int timeoutMs)
      throws IOException {
    RPC.setProtocolEngine(conf, carrier, ProtobufRpcEngine2.class);
    RPC.setProtocolEngine(conf, protocol, ProtobufRpcEngine2.class);
    this.carrier =
        RPC.getProtocolProxy(
                carrier,
                RPC.getProtocolVersion(carrier),
                server,
                UserGroupInformation.getCurrentUser(),
                conf,
                NetUtils.getDefaultSocketFactory(conf),
                timeoutMs,
                RetryPolicies.TRY_ONCE_THEN_FAIL)
            .getProxy();
    ConnectionId connection = RPC.getConnectionIdForProxy(this.carrier);
    this.proxy =
        RPC.getProtocolProxy(
                protocol,
                RPC.getProtocolVersion(protocol),
                connection,
                conf,
                NetUtils.getDefaultSocketFactory(conf))
            .getProxy();
  }

  /**
   * Calls a method.
   *
   * @throws IOException as the server threw it, where its class is known here; or why there is no
   *     answer
   */
  public <T> T call(
      Method<P> method,
      ConsumerRaisingIOE<DataOutput> request,
      FunctionRaisingIOE<DataInputStream, T> answer)
      throws IOException {
    BytesValue response;
    try {
      response = method.call(proxy, null, BytesService.message(request));
    } catch (ServiceException e) {
      if (e.getCause() instanceof RemoteException remote) {
        throw remote.unwrapRemoteException();
      }
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    }
    try {
      return answer.apply(BytesService.reader(response));
    } catch (EOFException | UTFDataFormatException e) {
      throw new IOException("a damaged answer of " + response.getValue().size() + " bytes", e);
    }
  }

  /** Reads a number of things in an answer; one with more than {@code most} is damaged. */
  static int count(DataInput in, int most, String things) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > most) {
      throw new IOException("a damaged answer, with " + count + " " + things);
    }
    return count;
  }

  @Override
  public void close() {
    RPC.stopProxy(proxy);
    RPC.stopProxy(carrier);
  }
}
