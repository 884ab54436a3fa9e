package org.hdfsmeld.datanode;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager.InvalidToken;
import org.apache.hadoop.security.token.Token;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.rpc.BlockTokens;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.MeldDatanodeProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers {@code hdfs meld} on the DataNode's own IPC server.
 *
 * <p>The report is for whoever may connect as a client: it tells no more than the DataNode's JMX
 * page. A block's layout is for whoever may read the block, traces and timelines are for the
 * superuser.
 */
final class MeldAdminService {
  private static final Logger LOG = LoggerFactory.getLogger(MeldAdminService.class);

  private final DataNode datanode;
  private final MeldVolumes volumes;
  private final boolean permissions;
  private final String superGroup;
  private final String owner;

  /** Users whose blocks are being looked up: one of them takes one handler of the DataNode's. */
  private final Set<String> asking = ConcurrentHashMap.newKeySet();

  MeldAdminService(DataNode datanode, Configuration conf, MeldVolumes volumes) throws IOException {
    this.datanode = datanode;
    this.volumes = volumes;
    this.permissions = conf.getBoolean("dfs.permissions.enabled", true);
    this.superGroup = conf.get("dfs.permissions.superusergroup", "supergroup");
    this.owner = UserGroupInformation.getCurrentUser().getUserName();
  }

  /** Adds the service to the DataNode. A failure costs the command, not the DataNode: logged. */
  static void install(DataNode datanode, Configuration conf, MeldVolumes volumes) {
    if (datanode.ipcServer == null) {
      return;
    }
    try {
      MeldAdminService service = new MeldAdminService(datanode, conf, volumes);
      new BytesService(MeldDatanodeProtocolPB.class, service.handlers())
          .addTo(datanode.ipcServer, conf);
    } catch (IOException e) {
      LOG.warn("'hdfs meld' cannot ask this DataNode", e);
    }
  }

  private Map<String, BytesService.Handler> handlers() {
    Map<String, BytesService.Handler> handlers =
        new HashMap<>(new TraceAdmin(volumes.trace(), this::checkSuperuser).handlers());
    handlers.putAll(new TimelineAdmin(volumes, this::checkSuperuser).handlers());
    handlers.put("blockLayouts", this::blockLayouts);
    handlers.put("report", this::report);
    return handlers;
  }

  void blockLayouts(DataInput request, DataOutput response) throws IOException {
    UserGroupInformation caller = Server.getRemoteUser();
    if (!asking.add(caller.getUserName())) {
      throw new IOException(
          "a request of " + caller.getUserName() + " is being answered; ask again after it");
    }
    try {
      ReadPatterns.Question question = ReadPatterns.readQuestion(request);
      boolean tokens = needsTokens(question.pool()) && !isSuperuser(caller);
      for (long id : question.blockIds()) {
        Token<BlockTokenIdentifier> token = BlockTokens.read(request);
        if (tokens) {
          checkRead(new ExtendedBlock(question.pool(), id), token, caller);
        }
        volumes.layout(new BlockKey(question.pool(), id)).write(response);
      }
    } finally {
      asking.remove(caller.getUserName());
    }
  }

  /** Whether the pool's blocks are read with tokens: the DataNode has it from the NameNode. */
  private boolean needsTokens(String pool) throws IOException {
    return datanode.getDNRegistrationForBP(pool).getExportedKeys().isBlockTokenEnabled();
  }

  private void checkRead(
      ExtendedBlock block, Token<BlockTokenIdentifier> token, UserGroupInformation caller)
      throws IOException {
    try {
      datanode
          .getBlockPoolTokenSecretManager()
          .checkAccess(token, null, block, BlockTokenIdentifier.AccessMode.READ, null, null);
    } catch (InvalidToken e) {
      throw new AccessControlException(
          "A block token with READ access of "
              + block.getLocalBlock().getBlockName()
              + " or superuser privilege is required, and "
              + caller
              + " has neither: "
              + e.getMessage());
    }
  }

  private void report(DataInput request, DataOutput response) throws IOException {
    volumes.report().write(response);
  }

  /** As {@code hdfs dfsadmin} has it: the DataNode's own user and the super group. */
  private void checkSuperuser() throws AccessControlException {
    UserGroupInformation caller = Server.getRemoteUser();
    if (!isSuperuser(caller)) {
      throw new AccessControlException(
          "Superuser privilege is required, which " + caller + " lacks");
    }
  }

  private boolean isSuperuser(UserGroupInformation caller) {
    return !permissions
        || caller.getUserName().equals(owner)
        || Arrays.asList(caller.getGroupNames()).contains(superGroup);
  }
}
