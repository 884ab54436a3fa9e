package org.hdfsmeld.namenode;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.Locale;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;
import org.apache.hadoop.security.authentication.util.KerberosName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TestDataNodeCallers {
  private static final InetAddress HOST = InetAddress.getLoopbackAddress();

  // Hadoop looks the name up that an address has.
  private static final String DATANODE =
      "dn/" + HOST.getCanonicalHostName().toLowerCase(Locale.ROOT) + "@EXAMPLE";

  @BeforeEach
  void mapNames() {
    KerberosName.setRules("RULE:[1:$1]\nRULE:[2:$1]");
  }

  @AfterEach
  void mapNamesAsEver() {
    KerberosName.setRules("DEFAULT");
  }

  private static UserGroupInformation user(String name, AuthenticationMethod method) {
    UserGroupInformation user = UserGroupInformation.createRemoteUser(name);
    user.setAuthenticationMethod(method);
    return user;
  }

  private static UserGroupInformation kerberos(String name) {
    return user(name, AuthenticationMethod.KERBEROS);
  }

  @Test
  void withoutSecurityWhoeverMayConnectMayAsk() {
    DataNodeCallers callers = new DataNodeCallers(null, false);
    assertThatCode(() -> callers.check(user("alice", AuthenticationMethod.SIMPLE), HOST))
        .doesNotThrowAnyException();
  }

  @Test
  void aDataNodeMayAskFromItsHost() {
    DataNodeCallers callers = new DataNodeCallers("dn/_HOST@EXAMPLE", true);
    assertThatCode(() -> callers.check(kerberos(DATANODE), HOST)).doesNotThrowAnyException();
    assertRefused(callers, kerberos("dn/elsewhere@EXAMPLE"), HOST);
  }

  @Test
  void othersMayNotAsk() {
    DataNodeCallers callers = new DataNodeCallers("dn/_HOST@EXAMPLE", true);
    assertRefused(callers, kerberos("alice@EXAMPLE"), HOST);
    assertRefused(callers, user(DATANODE, AuthenticationMethod.TOKEN), HOST);
    assertRefused(callers, user(DATANODE, AuthenticationMethod.SIMPLE), HOST);
    UserGroupInformation proxy =
        UserGroupInformation.createProxyUser(DATANODE, kerberos("alice@EXAMPLE"));
    assertRefused(callers, proxy, HOST);
  }

  @Test
  void withoutAPrincipalNobodyMay() {
    assertRefused(new DataNodeCallers(null, true), kerberos(DATANODE), HOST);
  }

  private static void assertRefused(
      DataNodeCallers callers, UserGroupInformation caller, InetAddress from) {
    assertThatThrownBy(() -> callers.check(caller, from))
        .isInstanceOf(AccessControlException.class)
        .hasMessageContaining("dfs.datanode.kerberos.principal");
  }
}
