package org.hdfsmeld.tools;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.ipc.RpcNoSuchProtocolException;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.hdfsmeld.rpc.MeldDatanode;

/** The HDFS that commands talk to. */
final class Cluster {
  interface Visit {
    void visit(DatanodeInfo dataNode, MeldDatanode asked) throws IOException;
  }

  private Cluster() {}

  /** Visits the live DataNodes, each under a line that names it; the exit code. */
  static int forEachDataNode(Command.Context context, Visit visit) throws IOException {
    FileSystem files = FileSystem.get(context.conf());
    // Of a view of several nameservices, the first: each knows all DataNodes.
    FileSystem[] behind = files.getChildFileSystems();
    DistributedFileSystem hdfs = of(behind == null || behind.length == 0 ? files : behind[0]);
    int code = Command.OK;
    for (DatanodeInfo dataNode : hdfs.getDataNodeStats(DatanodeReportType.LIVE)) {
      context.out().println("DataNode " + dataNode.getXferAddr());
      try {
        ask(
            context.conf(),
            dataNode,
            asked -> {
              visit.visit(dataNode, asked);
              return null;
            });
      } catch (IOException e) {
        context.out().println("  " + e.getMessage());
        code = Command.FAILED;
      }
    }
    return code;
  }

  /** The file system, which must be HDFS. */
  static DistributedFileSystem of(FileSystem fileSystem) {
    if (fileSystem instanceof DistributedFileSystem hdfs) {
      return hdfs;
    }
    throw new IllegalArgumentException(fileSystem.getUri() + " is not an HDFS file system");
  }

  /**
   * Asks a DataNode. A connection from before it was restarted is found broken: asks once more.
   *
   * @throws IOException why there is no answer, for a person
   */
  static <T> T ask(
      Configuration conf, DatanodeInfo dataNode, FunctionRaisingIOE<MeldDatanode, T> question)
      throws IOException {
    boolean byHostName = conf.getBoolean("dfs.client.use.datanode.hostname", false);
    InetSocketAddress address = NetUtils.createSocketAddr(dataNode.getIpcAddr(byHostName));
    try {
      return ask(conf, address, question);
    } catch (RpcNoSuchProtocolException e) {
      throw new IOException("the DataNode is without the plugin", e);
    } catch (AccessControlException e) {
      throw new IOException("refused: " + MeldAdmin.firstLine(e), e);
    } catch (IOException e) {
      throw new IOException("no answer: " + MeldAdmin.firstLine(e), e);
    }
  }

  private static <T> T ask(
      Configuration conf, InetSocketAddress address, FunctionRaisingIOE<MeldDatanode, T> question)
      throws IOException {
    try (MeldDatanode asked = new MeldDatanode(conf, address)) {
      return question.apply(asked);
    } catch (EOFException e) {
      try (MeldDatanode again = new MeldDatanode(conf, address)) {
        return question.apply(again);
      }
    }
  }
}
