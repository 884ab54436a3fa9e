/** The plugin's own protocols on the RPC servers that NameNodes and DataNodes have anyway. */
package org.hdfsmeld.rpc;
