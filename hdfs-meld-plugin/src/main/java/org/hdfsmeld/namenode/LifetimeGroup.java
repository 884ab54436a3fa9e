package org.hdfsmeld.namenode;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.hdfs.server.namenode.INode;
import org.apache.hadoop.hdfs.server.namenode.INodeFile;
import org.apache.hadoop.hdfs.server.namenode.XAttrFeature;
import org.apache.hadoop.thirdparty.com.google.common.hash.HashFunction;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hasher;
import org.apache.hadoop.thirdparty.com.google.common.hash.Hashing;

/**
 * Names the files that are taken to live as long as a given one: those below the same directory,
 * where it is not one of many that are alike.
 *
 * <p>The name goes from the root down to the first partition ({@code date=...}) or folder of a job
 * that is under way ({@code _temporary}), from where committed files go up. Numbers in names, such
 * as dates and identifiers of jobs, are all the same. The nearest attribute {@value #ATTRIBUTE} of
 * the file and its ancestors goes above that: files with the same value are one group.
 */
final class LifetimeGroup {
  static final String ATTRIBUTE = "user.meld.lifetime-group";

  private static final String[] UNDER_WAY = {"_temporary", ".hive-staging", ".spark-staging"};

  /** Digits; or at least eight hexadecimal ones, of which one is below ten. */
  private static final Pattern NUMBER = Pattern.compile("(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}|[0-9]+");

  /** With its fixed key: DataNodes keep names of groups over restarts. */
  private static final HashFunction HASH = Hashing.sipHash24();

  private LifetimeGroup() {}

  /** The group of a file, never 0. */
  static long of(INodeFile file) {
    Deque<String> names = new ArrayDeque<>();
    for (INode inode = file; inode != null; inode = inode.getParent()) {
      XAttrFeature attributes = inode.getXAttrFeature();
      XAttr said = attributes == null ? null : attributes.getXAttr(ATTRIBUTE);
      if (said != null && said.getValue() != null) {
        return name(HASH.newHasher().putByte((byte) '=').putBytes(said.getValue()));
      }
      if (inode != file) {
        names.addFirst(inode.getLocalName());
      }
    }
    return of(names);
  }

  /** The group of the files in a directory, by the names from the root down to it. */
  static long of(Iterable<String> names) {
    Hasher hasher = HASH.newHasher();
    for (String name : names) {
      if (name.indexOf('=') > 0 || Arrays.stream(UNDER_WAY).anyMatch(name::startsWith)) {
        break;
      }
      hasher.putByte((byte) '/').putString(general(name), StandardCharsets.UTF_8);
    }
    return name(hasher);
  }

  private static long name(Hasher hasher) {
    long hash = hasher.hash().asLong();
    return hash == 0 ? 1 : hash;
  }

  /** A name with each number, and each identifier, as one sign. */
  static String general(String name) {
    return NUMBER.matcher(name).replaceAll("#");
  }
}
