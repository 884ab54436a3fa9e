/** The NameNode's part: what files and directories say of how they will be read. */
package org.hdfsmeld.namenode;
