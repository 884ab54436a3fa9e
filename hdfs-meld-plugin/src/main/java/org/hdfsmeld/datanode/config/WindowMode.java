package org.hdfsmeld.datanode.config;

/** How much of a block is requested from the device ahead of its reader. */
public enum WindowMode {
  /** Grows while the reader goes on sequentially, collapses when it jumps. */
  ADAPTIVE,
  /** Always the whole window. */
  FIXED,
  /** What an unmodified Linux kernel under an unmodified DataNode requests. */
  LINUX
}
