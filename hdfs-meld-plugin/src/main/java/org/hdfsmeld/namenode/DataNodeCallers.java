package org.hdfsmeld.namenode;

import java.io.IOException;
import java.net.InetAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;

/**
 * Lets DataNodes of the cluster pass, where security is on: callers that Kerberos has shown to be
 * {@value #PRINCIPAL_KEY}, with the host they call from in place of {@code _HOST}.
 *
 * <p>Hadoop asks the same of whoever connects as a DataNode, but only where service authorization
 * is on, and not again of the calls that follow.
 *
 * @param principal with {@code _HOST} or without; null lets nobody pass
 * @param secure whether security is on; everybody passes where it is off
 */
record DataNodeCallers(String principal, boolean secure) {
  private static final String PRINCIPAL_KEY = "dfs.datanode.kerberos.principal";

  DataNodeCallers(Configuration conf) {
    this(conf.getTrimmed(PRINCIPAL_KEY), UserGroupInformation.isSecurityEnabled());
  }

  /**
   * Checks a caller by where it calls from.
   *
   * @throws AccessControlException when security is on and it is no DataNode
   */
  void check(UserGroupInformation caller, InetAddress address) throws IOException {
    if (!secure) {
      return;
    }
    boolean passes =
        principal != null
            && caller.getRealAuthenticationMethod() == AuthenticationMethod.KERBEROS
            && caller.getRealUser() == null
            && caller.getUserName().equals(SecurityUtil.getServerPrincipal(principal, address));
    if (!passes) {
      throw new AccessControlException(
          caller + " from " + address + " is no DataNode: " + PRINCIPAL_KEY + " is " + principal);
    }
  }
}
