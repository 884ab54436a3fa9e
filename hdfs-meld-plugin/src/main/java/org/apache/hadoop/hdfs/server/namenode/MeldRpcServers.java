package org.apache.hadoop.hdfs.server.namenode;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.ipc.RPC;

/**
 * The RPC servers of a NameNode that DataNodes talk to.
 *
 * <p>In this package because the one for services can be had only here.
 */
public final class MeldRpcServers {
  private MeldRpcServers() {}

  /** The server for clients, and the one for services where it is configured. */
  public static List<RPC.Server> of(NameNode nameNode) {
    NameNodeRpcServer rpc = (NameNodeRpcServer) nameNode.getRpcServer();
    List<RPC.Server> servers = new ArrayList<>();
    servers.add(rpc.getClientRpcServer());
    if (rpc.getServiceRpcServer() != null) {
      servers.add(rpc.getServiceRpcServer());
    }
    return servers;
  }
}
