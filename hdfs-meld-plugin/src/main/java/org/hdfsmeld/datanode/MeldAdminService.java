package org.hdfsmeld.datanode;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.MeldDatanodeProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers {@code hdfs meld} on the DataNode's own IPC server.
 *
 * <p>Whoever may connect as a client may ask: layouts and counters tell no more than the DataNode's
 * JMX page does. What tells more begins with {@code checkSuperuser}.
 */
final class MeldAdminService {
  private static final Logger LOG = LoggerFactory.getLogger(MeldAdminService.class);

  private final MeldVolumes volumes;
  private final boolean permissions;
  private final String superGroup;
  private final String owner;

  private MeldAdminService(Configuration conf, MeldVolumes volumes) throws IOException {
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
      MeldAdminService service = new MeldAdminService(conf, volumes);
      new BytesService(MeldDatanodeProtocolPB.class, service.handlers())
          .addTo(datanode.ipcServer, conf);
    } catch (IOException e) {
      LOG.warn("'hdfs meld' cannot ask this DataNode", e);
    }
  }

  private Map<String, BytesService.Handler> handlers() {
    Map<String, BytesService.Handler> handlers =
        new HashMap<>(new TraceAdmin(volumes.trace(), this::checkSuperuser).handlers());
    handlers.put("blockLayouts", this::blockLayouts);
    handlers.put("report", this::report);
    return handlers;
  }

  private void blockLayouts(DataInput request, DataOutput response) throws IOException {
    ReadPatterns.Question question = ReadPatterns.readQuestion(request);
    for (long id : question.blockIds()) {
      volumes.layout(new BlockKey(question.pool(), id)).write(response);
    }
  }

  private void report(DataInput request, DataOutput response) throws IOException {
    volumes.report().write(response);
  }

  /** As {@code hdfs dfsadmin} has it: the DataNode's own user and the super group. */
  private void checkSuperuser() throws AccessControlException {
    UserGroupInformation caller = Server.getRemoteUser();
    if (permissions
        && !caller.getUserName().equals(owner)
        && !Arrays.asList(caller.getGroupNames()).contains(superGroup)) {
      throw new AccessControlException(
          "Superuser privilege is required, which " + caller + " lacks");
    }
  }
}
