/**
 * The timeline of a DataNode, on demand: who read which block, what was asked of which device for
 * it and what was waited for, beside what the devices did.
 *
 * <p>In come readers of blocks, on threads of HDFS; out go files that {@code meldsim timeline
 * --join} reads.
 */
package org.hdfsmeld.timeline;
