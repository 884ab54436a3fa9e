package org.hdfsmeld.namenode;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockInfo;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystem;
import org.apache.hadoop.hdfs.server.namenode.INode;
import org.apache.hadoop.hdfs.server.namenode.INodeFile;
import org.apache.hadoop.hdfs.server.namenode.MeldRpcServers;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode.OperationCategory;
import org.apache.hadoop.hdfs.server.namenode.XAttrFeature;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.util.ServicePlugin;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.rpc.BytesService;
import org.hdfsmeld.rpc.ReadPatternProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells DataNodes how blocks will be read: {@code dfs.namenode.plugins =
 * org.hdfsmeld.namenode.ReadPatternService}.
 *
 * <p>The answer is the extended attribute {@value ReadPattern#XATTR} of the block's file or of its
 * nearest ancestor that has it, and the file's block size. It is a protocol more on the NameNode's
 * own RPC servers, {@link ReadPatternProtocolPB}: no port more, and the cluster's authentication.
 * Only the active NameNode answers: a standby may not have heard yet of a block that begins.
 *
 * <p>The namesystem's lock is held, for reading, for one block at a time: for the walk from its
 * file up to the root at most.
 */
public final class ReadPatternService implements ServicePlugin {
  private static final Logger LOG = LoggerFactory.getLogger(ReadPatternService.class);
  private static final String OPERATION = "meldReadPatterns";

  private FSNamesystem namesystem;
  private DataNodeCallers callers;

  @Override
  public void start(Object service) {
    if (!(service instanceof NameNode nameNode)) {
      LOG.error("{} serves a NameNode, not {}", getClass().getName(), service);
      return;
    }
    namesystem = nameNode.getNamesystem();
    callers = new DataNodeCallers(nameNode.getConf());
    BytesService methods =
        new BytesService(ReadPatternProtocolPB.class, Map.of("readPatterns", this::readPatterns));
    for (RPC.Server server : MeldRpcServers.of(nameNode)) {
      methods.addTo(server, nameNode.getConf());
      server.addTerseExceptions(ReadPatterns.NotMyPoolException.class);
    }
  }

  /** The servers stop with the NameNode; there is nothing else to give back. */
  @Override
  public void stop() {}

  @Override
  public void close() {}

  private void readPatterns(DataInput request, DataOutput response) throws IOException {
    callers.check(Server.getRemoteUser(), Server.getRemoteIp());
    ReadPatterns.Question question = ReadPatterns.readQuestion(request);
    ReadPatterns.writeAnswer(answer(question), response);
  }

  private List<BlockHint> answer(ReadPatterns.Question question) throws IOException {
    // An older plugin's first question is of no pool.
    String pool = question.pool();
    if (!pool.isEmpty() && !pool.equals(namesystem.getBlockPoolId())) {
      throw new ReadPatterns.NotMyPoolException(
          "block pool " + pool + " is not that of this NameNode, " + namesystem.getBlockPoolId());
    }
    List<BlockHint> hints = new ArrayList<>(question.blockIds().length);
    // Also where no block is asked for: so a DataNode finds out who is active.
    namesystem.checkOperation(OperationCategory.WRITE);
    for (long id : question.blockIds()) {
      hints.add(hint(id));
    }
    return hints;
  }

  private BlockHint hint(long blockId) throws StandbyException {
    // Of the whole namesystem: 3.5 can lock a part of it, and that is not needed here.
    namesystem.readLock();
    try {
      namesystem.checkOperation(OperationCategory.WRITE);
      BlockInfo block = namesystem.getBlockManager().getStoredBlock(new Block(blockId));
      INodeFile file =
          block == null ? null : namesystem.getBlockCollection(block.getBlockCollectionId());
      return file == null ? BlockHint.NONE : hint(file);
    } finally {
      namesystem.readUnlock(OPERATION);
    }
  }

  private static BlockHint hint(INodeFile file) {
    ReadPattern pattern = ReadPattern.UNKNOWN;
    int level = BlockHint.NOBODY;
    int above = 0;
    for (INode inode = file; inode != null && level < 0; inode = inode.getParent(), above++) {
      XAttrFeature attributes = inode.getXAttrFeature();
      XAttr said = attributes == null ? null : attributes.getXAttr(ReadPattern.XATTR);
      if (said != null) {
        pattern = pattern(said.getValue());
        level = above;
      }
    }
    INode directory = file.getParent();
    return new BlockHint(
        pattern,
        file.getPreferredBlockSize(),
        file.getId(),
        directory == null ? 0 : directory.getId(),
        level,
        LifetimeGroup.of(file));
  }

  private static ReadPattern pattern(byte[] value) {
    return value == null
        ? ReadPattern.UNKNOWN
        : ReadPattern.parse(new String(value, StandardCharsets.UTF_8)).orElse(ReadPattern.UNKNOWN);
  }
}
