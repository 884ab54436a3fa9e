package org.hdfsmeld.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.protocolPB.ClientDatanodeProtocolPB;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.token.Token;

/** A DataNode's plugin, as {@code hdfs meld} sees it: over a connection as clients have. */
public final class MeldDatanode implements AutoCloseable {
  private static final int TIMEOUT_MS = 30_000;

  private final MeldRpc<MeldDatanodeProtocolPB> rpc;

  /**
   * Connects with the first call.
   *
   * @param ipc address of the DataNode's IPC server
   */
  public MeldDatanode(Configuration conf, InetSocketAddress ipc) throws IOException {
    this.rpc =
        new MeldRpc<>(
            conf, ClientDatanodeProtocolPB.class, MeldDatanodeProtocolPB.class, ipc, TIMEOUT_MS);
  }

  /**
   * How blocks are laid out, in their order.
   *
   * @param blockIds at most {@link ReadPatterns#MAX_BLOCKS}
   * @param tokens of the blocks, as the NameNode gave them with their locations; nobody looks at
   *     those of a superuser, or where block tokens are not enabled
   * @throws AccessControlException when the caller may not read one of the blocks
   * @throws IOException when the DataNode does not answer, has no plugin, or is answering the
   *     caller's user already
   */
  public List<BlockLayout> blockLayouts(
      String pool, long[] blockIds, List<Token<BlockTokenIdentifier>> tokens) throws IOException {
    return rpc.call(
        MeldDatanodeProtocolPB::blockLayouts,
        out -> {
          ReadPatterns.writeQuestion(new ReadPatterns.Question(pool, blockIds), out);
          for (Token<BlockTokenIdentifier> token : tokens) {
            BlockTokens.write(token, out);
          }
        },
        in -> {
          List<BlockLayout> layouts = new ArrayList<>(blockIds.length);
          for (int i = 0; i < blockIds.length; i++) {
            layouts.add(BlockLayout.read(in));
          }
          return layouts;
        });
  }

  /**
   * The volumes and what they count.
   *
   * @throws IOException when the DataNode does not answer, or has no plugin
   */
  public DatanodeReport report() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::report, out -> {}, DatanodeReport::read);
  }

  /**
   * Begins a block trace.
   *
   * @throws IOException when there is one, the caller is no superuser, or the DataNode cannot
   */
  public TraceStatus startTrace() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::startTrace, out -> {}, TraceStatus::read);
  }

  /**
   * Ends the block trace; everything is in its files then.
   *
   * @throws IOException when the caller is no superuser, or the DataNode does not answer
   */
  public TraceStatus stopTrace() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::stopTrace, out -> {}, TraceStatus::read);
  }

  /**
   * The block trace and its files.
   *
   * @throws IOException when the caller is no superuser, or the DataNode does not answer
   */
  public TraceStatus traceStatus() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::traceStatus, out -> {}, TraceStatus::read);
  }

  /**
   * Begins a timeline.
   *
   * @throws IOException when there is one, the caller is no superuser, or the DataNode cannot
   */
  public TraceStatus startTimeline() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::startTimeline, out -> {}, TraceStatus::read);
  }

  /**
   * Ends the timeline; everything is in its files then.
   *
   * @throws IOException when the caller is no superuser, or the DataNode cannot
   */
  public TraceStatus stopTimeline() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::stopTimeline, out -> {}, TraceStatus::read);
  }

  /**
   * The timeline and its files.
   *
   * @throws IOException when the caller is no superuser, or the DataNode does not answer
   */
  public TraceStatus timelineStatus() throws IOException {
    return rpc.call(MeldDatanodeProtocolPB::timelineStatus, out -> {}, TraceStatus::read);
  }

  /**
   * A part of a timeline's file, as of {@link #readTrace}.
   *
   * @throws IOException when the caller is no superuser, or the file is not there
   */
  public byte[] readTimeline(String file, long offset) throws IOException {
    return rpc.call(
        MeldDatanodeProtocolPB::readTimeline,
        out -> {
          out.writeUTF(file);
          out.writeLong(offset);
        },
        in -> in.readNBytes(in.readInt()));
  }

  /**
   * A part of a trace file from {@code offset} on, as much as the DataNode gives at once; empty at
   * the file's end.
   *
   * @throws IOException when the caller is no superuser, or the file is not there
   */
  public byte[] readTrace(String file, long offset) throws IOException {
    return rpc.call(
        MeldDatanodeProtocolPB::readTrace,
        out -> {
          out.writeUTF(file);
          out.writeLong(offset);
        },
        in -> in.readNBytes(in.readInt()));
  }

  @Override
  public void close() {
    rpc.close();
  }
}
