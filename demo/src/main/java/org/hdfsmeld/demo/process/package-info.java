/**
 * The process and the world around it: its directory, its signals, its terminal. In: steps to undo,
 * and stages to show. Signals are handled in the JVM's signal threads, progress is drawn by a
 * daemon thread; all else runs in the caller's.
 */
package org.hdfsmeld.demo.process;
