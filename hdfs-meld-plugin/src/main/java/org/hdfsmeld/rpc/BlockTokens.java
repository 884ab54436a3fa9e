package org.hdfsmeld.rpc;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenIdentifier;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.token.Token;

/**
 * The encoding of block tokens: what a DataNode checks of one. Hadoop's own would allocate whatever
 * length it is sent.
 */
public final class BlockTokens {
  private BlockTokens() {}

  /** Writes a token, which may be empty. */
  public static void write(Token<BlockTokenIdentifier> token, DataOutput out) throws IOException {
    for (byte[] part : new byte[][] {token.getIdentifier(), token.getPassword()}) {
      out.writeShort(part.length);
      out.write(part);
    }
  }

  public static Token<BlockTokenIdentifier> read(DataInput in) throws IOException {
    return new Token<>(readPart(in), readPart(in), new Text(), new Text());
  }

  private static byte[] readPart(DataInput in) throws IOException {
    byte[] part = new byte[in.readUnsignedShort()];
    in.readFully(part);
    return part;
  }
}
