/**
 * In comes a block that is created with the volumes that there are; out goes one of them. On the
 * thread that creates the block, after its hint has come or was given up.
 */
package org.hdfsmeld.datanode.placement;
