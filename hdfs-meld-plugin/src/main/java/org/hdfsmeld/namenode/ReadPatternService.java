package org.hdfsmeld.namenode;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockInfo;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystem;
import org.apache.hadoop.hdfs.server.namenode.INode;
import org.apache.hadoop.hdfs.server.namenode.INodeFile;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.XAttrFeature;
import org.apache.hadoop.hdfs.util.RwLockMode;
import org.apache.hadoop.ipc.RefreshHandler;
import org.apache.hadoop.ipc.RefreshRegistry;
import org.apache.hadoop.ipc.RefreshResponse;
import org.apache.hadoop.util.ServicePlugin;
import org.hdfsmeld.datanode.ReadPattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells DataNodes how a block will be read: {@code dfs.namenode.plugins =
 * org.hdfsmeld.namenode.ReadPatternService}.
 *
 * <p>The answer is the extended attribute {@value ReadPattern#XATTR} of the block's file or of its
 * nearest ancestor that has it, and the file's block size. It is asked for through the NameNode's
 * own RPC server, as {@code hdfs dfsadmin -refresh <namenode> meld.read-pattern <pool> <block id>}
 * does: the cluster's authentication applies, and {@code security.refresh.generic.protocol.acl}.
 */
public final class ReadPatternService implements ServicePlugin, RefreshHandler {
  /** What the service is called in a request. */
  public static final String IDENTIFIER = "meld.read-pattern";

  /** Return code of an answer; the message is the pattern and the file's block size in bytes. */
  public static final int KNOWN = 0;

  private static final int UNKNOWN_BLOCK = 1;
  private static final int BAD_REQUEST = 2;
  private static final Logger LOG = LoggerFactory.getLogger(ReadPatternService.class);

  private FSNamesystem namesystem;

  @Override
  public void start(Object service) {
    if (!(service instanceof NameNode nameNode)) {
      LOG.error("{} serves a NameNode, not {}", getClass().getName(), service);
      return;
    }
    namesystem = nameNode.getNamesystem();
    RefreshRegistry.defaultRegistry().register(IDENTIFIER, this);
  }

  @Override
  public void stop() {
    RefreshRegistry.defaultRegistry().unregister(IDENTIFIER, this);
  }

  @Override
  public void close() {
    stop();
  }

  @Override
  public RefreshResponse handleRefresh(String identifier, String[] arguments) {
    if (arguments.length != 2) {
      return new RefreshResponse(BAD_REQUEST, "name a block pool and a block id");
    }
    long blockId;
    try {
      blockId = Long.parseLong(arguments[1]);
    } catch (NumberFormatException e) {
      return new RefreshResponse(BAD_REQUEST, "'" + arguments[1] + "' is no block id");
    }
    String answer = arguments[0].equals(namesystem.getBlockPoolId()) ? answer(blockId) : null;
    return answer == null
        ? new RefreshResponse(UNKNOWN_BLOCK, "no such block here")
        : new RefreshResponse(KNOWN, answer);
  }

  /** Pattern and block size of the block's file, or null when there is no such block. */
  private String answer(long blockId) {
    namesystem.readLock(RwLockMode.GLOBAL);
    try {
      BlockInfo block = namesystem.getBlockManager().getStoredBlock(new Block(blockId));
      INodeFile file =
          block == null ? null : namesystem.getBlockCollection(block.getBlockCollectionId());
      return file == null ? null : pattern(file) + " " + file.getPreferredBlockSize();
    } finally {
      namesystem.readUnlock(RwLockMode.GLOBAL, IDENTIFIER);
    }
  }

  /** What the nearest of the file and its ancestors says. */
  private static ReadPattern pattern(INode file) {
    for (INode inode = file; inode != null; inode = inode.getParent()) {
      XAttrFeature attributes = inode.getXAttrFeature();
      XAttr said = attributes == null ? null : attributes.getXAttr(ReadPattern.XATTR);
      if (said != null) {
        byte[] value = said.getValue();
        return value == null
            ? ReadPattern.UNKNOWN
            : ReadPattern.parse(new String(value, StandardCharsets.UTF_8))
                .orElse(ReadPattern.UNKNOWN);
      }
    }
    return ReadPattern.UNKNOWN;
  }
}
