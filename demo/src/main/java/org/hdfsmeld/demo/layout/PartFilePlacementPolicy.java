package org.hdfsmeld.demo.layout;

import java.util.EnumSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockPlacementPolicyDefault;
import org.apache.hadoop.hdfs.server.blockmanagement.DatanodeDescriptor;
import org.apache.hadoop.hdfs.server.blockmanagement.DatanodeStorageInfo;
import org.apache.hadoop.net.Node;
import org.apache.hadoop.net.NodeBase;

/**
 * Puts the first replica of part file N on DataNode N modulo the number of DataNodes, so that two
 * data sets with the same files lie alike and tasks that read neighbouring files do not meet on one
 * device. Other files go where HDFS would put them.
 */
public final class PartFilePlacementPolicy extends BlockPlacementPolicyDefault {
  private static final Pattern PART = Pattern.compile("part-(?:[mr]-)?(\\d{1,9})\\b.*");

  @Override
  public DatanodeStorageInfo[] chooseTarget(
      String path,
      int replicas,
      Node writer,
      List<DatanodeStorageInfo> chosen,
      boolean returnChosenNodes,
      Set<Node> excluded,
      long blockSize,
      BlockStoragePolicy storagePolicy,
      EnumSet<AddBlockFlag> flags) {
    // The default policy puts the first replica where the writer is.
    Node first = writer;
    List<DatanodeDescriptor> nodes = nodes();
    OptionalInt index = nodeIndex(path, nodes.size());
    if (index.isPresent()) {
      first = nodes.get(index.getAsInt());
    }
    return super.chooseTarget(
        path,
        replicas,
        first,
        chosen,
        returnChosenNodes,
        excluded,
        blockSize,
        storagePolicy,
        flags);
  }

  /** Which of {@code nodes} DataNodes a file goes to; empty if its name is not a part file's. */
  static OptionalInt nodeIndex(String path, int nodes) {
    Matcher part = PART.matcher(path.substring(path.lastIndexOf('/') + 1));
    return nodes > 0 && part.matches()
        ? OptionalInt.of(Integer.parseInt(part.group(1)) % nodes)
        : OptionalInt.empty();
  }

  private List<DatanodeDescriptor> nodes() {
    return clusterMap.getLeaves(NodeBase.ROOT).stream()
        .filter(DatanodeDescriptor.class::isInstance)
        .map(DatanodeDescriptor.class::cast)
        .sorted((a, b) -> a.getXferAddr().compareTo(b.getXferAddr()))
        .toList();
  }
}
