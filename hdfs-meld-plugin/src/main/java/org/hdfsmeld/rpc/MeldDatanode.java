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
import org.hdfsmeld.record.RecordKind;

/** A DataNode's plugin, as {@code hdfs meld} sees it: over a connection as clients have. */
public final class MeldDatanode implements AutoCloseable {
  private static final int TIMEOUT_MS = 30_000;

  /** Most bytes of a file in one answer; a DataNode sends no more than 1 MiB. */
  private static final int MAX_PART_BYTES = 16 << 20;

  private final MeldRpc<MeldDatanodeProtocolPB> rpc;

  /** Connects to a DataNode's IPC server with the first call. */
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
   * @throws IOException when the DataNode does not answer, has no plugin, or is answering another
   *     request of this kind
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
          if (in.available() > 0) {
            for (int i = 0; i < blockIds.length; i++) {
              layouts.set(i, layouts.get(i).readKind(in));
            }
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

  /** Begins a recording; there may be none, and the caller must be a superuser. */
  public RecordingStatus start(RecordKind kind) throws IOException {
    return ask(kind, MeldDatanodeProtocolPB::startTrace, MeldDatanodeProtocolPB::startTimeline);
  }

  /** Ends a recording, as a superuser; everything is in its files then. */
  public RecordingStatus stop(RecordKind kind) throws IOException {
    return ask(kind, MeldDatanodeProtocolPB::stopTrace, MeldDatanodeProtocolPB::stopTimeline);
  }

  /** A recording and its files, for a superuser. */
  public RecordingStatus status(RecordKind kind) throws IOException {
    return ask(kind, MeldDatanodeProtocolPB::traceStatus, MeldDatanodeProtocolPB::timelineStatus);
  }

  private RecordingStatus ask(
      RecordKind kind,
      MeldRpc.Method<MeldDatanodeProtocolPB> ofTraces,
      MeldRpc.Method<MeldDatanodeProtocolPB> ofTimelines)
      throws IOException {
    MeldRpc.Method<MeldDatanodeProtocolPB> method =
        kind == RecordKind.TRACE ? ofTraces : ofTimelines;
    return rpc.call(method, out -> {}, RecordingStatus::read);
  }

  /**
   * A part of a recording's file from {@code offset} on, as much as the DataNode gives at once;
   * empty at the file's end.
   *
   * @throws IOException when the caller is no superuser, or the file is not there
   */
  public byte[] read(RecordKind kind, String file, long offset) throws IOException {
    return rpc.call(
        kind == RecordKind.TRACE
            ? MeldDatanodeProtocolPB::readTrace
            : MeldDatanodeProtocolPB::readTimeline,
        out -> {
          out.writeUTF(file);
          out.writeLong(offset);
        },
        in -> in.readNBytes(MeldRpc.count(in, MAX_PART_BYTES, "bytes")));
  }

  @Override
  public void close() {
    rpc.close();
  }
}
