package org.hdfsmeld.namenode;

import java.io.DataInputStream;
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
import org.hdfsmeld.model.PathKind;
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
 * nearest ancestor that has it, the file's block size, and the {@link PathKind} of its path. It is
 * a protocol more on the NameNode's own RPC servers, {@link ReadPatternProtocolPB}: no port more,
 * and the cluster's authentication. Only the active NameNode answers: a standby may not have heard
 * yet of a block that begins.
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

  private void readPatterns(DataInputStream request, DataOutput response) throws IOException {
    callers.check(Server.getRemoteUser(), Server.getRemoteIp());
    ReadPatterns.Question question = ReadPatterns.readQuestion(request);
    // An older plugin does not say.
    boolean kinds = request.available() > 0 && request.readBoolean();
    ReadPatterns.writeAnswer(answer(question, kinds), response);
  }

  private List<BlockHint> answer(ReadPatterns.Question question, boolean kinds) throws IOException {
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
      FileOfBlock file = file(id);
      hints.add(file == null ? BlockHint.NONE : file.hint(kinds, namesystem.getBlockPoolId()));
    }
    return hints;
  }

  private FileOfBlock file(long blockId) throws StandbyException {
    // Of the whole namesystem: 3.5 can lock a part of it, and that is not needed here.
    namesystem.readLock();
    try {
      namesystem.checkOperation(OperationCategory.WRITE);
      BlockInfo block = namesystem.getBlockManager().getStoredBlock(new Block(blockId));
      INodeFile file =
          block == null ? null : namesystem.getBlockCollection(block.getBlockCollectionId());
      return file == null ? null : new FileOfBlock(file);
    } finally {
      namesystem.readUnlock(OPERATION);
    }
  }

  /**
   * What is looked at under the lock: references alone, so that nothing there depends on how long
   * the names are. What follows from them is found without it.
   */
  private static final class FileOfBlock {
    private final long id;
    private final long directoryId;
    private final long blockBytes;
    private final long changedMs;
    private final List<byte[]> names = new ArrayList<>();
    private XAttr pattern;
    private int level = BlockHint.NOBODY;
    private XAttr group;

    FileOfBlock(INodeFile file) {
      INode directory = file.getParent();
      id = file.getId();
      directoryId = directory == null ? 0 : directory.getId();
      blockBytes = file.getPreferredBlockSize();
      changedMs = file.getModificationTime();
      for (INode inode = file; inode != null; inode = inode.getParent()) {
        XAttrFeature attributes = inode.getXAttrFeature();
        if (attributes != null && pattern == null) {
          pattern = attributes.getXAttr(ReadPattern.XATTR);
          level = pattern == null ? BlockHint.NOBODY : names.size();
        }
        if (attributes != null && group == null) {
          group = attributes.getXAttr(PathKind.ATTRIBUTE);
        }
        names.add(inode.getLocalNameBytes());
      }
    }

    /** The hint; without kinds, files and directories are their own. */
    BlockHint hint(boolean kinds, String pool) {
      long kind = id;
      long parentKind = directoryId;
      if (kinds) {
        PathKind path = PathKind.of(path());
        kind = path.key(pool);
        parentKind = path.parent().key(pool);
        if (group != null && group.getValue() != null) {
          String value = new String(group.getValue(), StandardCharsets.UTF_8);
          parentKind = kind;
          kind = PathKind.keyOfAttribute(pool, value);
        }
      }
      ReadPattern said = pattern == null ? ReadPattern.UNKNOWN : pattern(pattern.getValue());
      return new BlockHint(said, blockBytes, kind, parentKind, level, directoryId, changedMs);
    }

    private String path() {
      StringBuilder path = new StringBuilder();
      for (int i = names.size() - 1; i >= 0; i--) {
        path.append('/').append(new String(names.get(i), StandardCharsets.UTF_8));
      }
      return path.toString();
    }
  }

  private static ReadPattern pattern(byte[] value) {
    return value == null
        ? ReadPattern.UNKNOWN
        : ReadPattern.parse(new String(value, StandardCharsets.UTF_8)).orElse(ReadPattern.UNKNOWN);
  }
}
