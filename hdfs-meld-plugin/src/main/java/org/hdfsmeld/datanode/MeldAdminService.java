package org.hdfsmeld.datanode;

import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager.InvalidToken;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.StringUtils;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.record.RecordFiles;
import org.hdfsmeld.record.Recording;
import org.hdfsmeld.rpc.BlockLayout;
import org.hdfsmeld.rpc.BlockTokens;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.MeldDatanodeProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;
import org.hdfsmeld.rpc.RecordingStatus;
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

  /** How old a report may be. */
  static final long REPORT_AGE_NS = TimeUnit.SECONDS.toNanos(1);

  /** So many times as long as a look at the device took, nobody looks again. */
  private static final int REST = 9;

  private static final long LONGEST_REST_NS = TimeUnit.SECONDS.toNanos(1);

  /** Most bytes of a file in one answer. */
  private static final int PART_BYTES = 1 << 20;

  private final DataNode datanode;
  private final MeldVolumes volumes;
  private final boolean permissions;
  private final String superGroup;
  private final String owner;
  private final LongSupplier clock;
  private final LongConsumer rest;

  private final ReentrantLock lookingUp = new ReentrantLock();
  private final ReentrantLock reporting = new ReentrantLock();
  private volatile Report report;

  private record Report(byte[] bytes, long madeNs) {}

  /**
   * A service whose reports age by that clock.
   *
   * @param rest lets so many nanoseconds pass on that clock
   */
  MeldAdminService(
      DataNode datanode,
      Configuration conf,
      MeldVolumes volumes,
      LongSupplier clock,
      LongConsumer rest)
      throws IOException {
    this.datanode = datanode;
    this.volumes = volumes;
    this.permissions = conf.getBoolean("dfs.permissions.enabled", true);
    this.superGroup = conf.get("dfs.permissions.superusergroup", "supergroup");
    this.owner = UserGroupInformation.getCurrentUser().getUserName();
    this.clock = clock;
    this.rest = rest;
  }

  /** Adds the service to the DataNode. A failure costs the command, not the DataNode: logged. */
  static void install(DataNode datanode, Configuration conf, MeldVolumes volumes) {
    if (datanode.ipcServer == null) {
      return;
    }
    try {
      MeldAdminService service =
          new MeldAdminService(datanode, conf, volumes, System::nanoTime, LockSupport::parkNanos);
      new BytesService(MeldDatanodeProtocolPB.class, service.handlers())
          .addTo(datanode.ipcServer, conf);
    } catch (IOException e) {
      LOG.warn("'hdfs meld' cannot ask this DataNode", e);
    }
  }

  private Map<String, BytesService.Handler> handlers() {
    Map<String, BytesService.Handler> handlers = new HashMap<>();
    addRecording(handlers, "Trace", volumes.trace(), volumes.trace().files());
    addRecording(handlers, "Timeline", volumes.timeline(), volumes.timeline().files());
    handlers.put("blockLayouts", this::blockLayouts);
    handlers.put("report", this::report);
    return handlers;
  }

  private void addRecording(
      Map<String, BytesService.Handler> handlers,
      String capital,
      Recording recording,
      RecordFiles files) {
    String name = StringUtils.toLowerCase(capital);
    handlers.put("start" + capital, changed(recording::start, recording, files));
    handlers.put("stop" + capital, changed(recording::stop, recording, files));
    handlers.put(name + "Status", changed(() -> {}, recording, files));
    handlers.put(
        "read" + capital,
        (request, response) -> {
          checkSuperuser();
          byte[] part = files.read(request.readUTF(), request.readLong(), PART_BYTES);
          response.writeInt(part.length);
          response.write(part);
        });
  }

  /** Does something to a recording, and says how it is then. */
  private BytesService.Handler changed(Runnable change, Recording recording, RecordFiles files) {
    return (request, response) -> {
      checkSuperuser();
      try {
        change.run();
      } catch (IllegalStateException e) {
        // The caller need not have our exception classes, and knows this one.
        throw new IOException(e.getMessage());
      }
      new RecordingStatus(
              recording.isRecording(),
              recording.getRecords(),
              recording.getDroppedRecords(),
              recording.getLastError(),
              files.list().stream()
                  .map(name -> new RecordingStatus.File(name, files.bytes(name)))
                  .toList())
          .write(response);
    };
  }

  /**
   * Looks blocks up, which takes the devices' time: one request at a time on the whole DataNode,
   * and a tenth of the time, so that others keep the handlers and the devices.
   */
  void blockLayouts(DataInput request, DataOutput response) throws IOException {
    if (!lookingUp.tryLock()) {
      throw new IOException("another request for layouts is being answered; ask again after it");
    }
    try {
      UserGroupInformation caller = Server.getRemoteUser();
      ReadPatterns.Question question = ReadPatterns.readQuestion(request);
      boolean tokens = needsTokens(question.pool()) && !isSuperuser(caller);
      List<BlockLayout> layouts = new ArrayList<>();
      for (long id : question.blockIds()) {
        Token<BlockTokenIdentifier> token = BlockTokens.read(request);
        if (tokens) {
          checkRead(new ExtendedBlock(question.pool(), id), token, caller);
        }
        long begin = clock.getAsLong();
        layouts.add(volumes.layout(new BlockKey(question.pool(), id)));
        rest.accept(Math.min(REST * (clock.getAsLong() - begin), LONGEST_REST_NS));
      }
      for (BlockLayout layout : layouts) {
        layout.write(response);
      }
      for (BlockLayout layout : layouts) {
        layout.writeKind(response);
      }
    } finally {
      lookingUp.unlock();
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
          ("A block token with READ access of %s or superuser privilege is required, and %s has"
                  + " neither: %s")
              .formatted(block.getLocalBlock().getBlockName(), caller, e.getMessage()));
    }
  }

  /**
   * One caller makes the report, once in {@link #REPORT_AGE_NS}. Others get the one before; they do
   * not wait for a device that does not answer.
   */
  void report(DataInput request, DataOutput response) throws IOException {
    Report known = report;
    if ((known == null || clock.getAsLong() - known.madeNs() >= REPORT_AGE_NS)
        && reporting.tryLock()) {
      try {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        volumes.report().write(new DataOutputStream(bytes));
        known = new Report(bytes.toByteArray(), clock.getAsLong());
        report = known;
      } finally {
        reporting.unlock();
      }
    }
    if (known == null) {
      throw new IOException("the first report is being made; ask again after it");
    }
    response.write(known.bytes());
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
