/** The versions of Hadoop that the plugin is for, and the jars of each. */
package org.hdfsmeld.hadoop;
