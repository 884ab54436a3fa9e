/**
 * Scans and lookups on two devices, placement after placement. In: what the user chose. Out: what
 * each placement's readers got. Runs in the main thread; each reader has a thread of its own, and
 * the DataNode's threads call the volume choosing policy.
 */
package org.hdfsmeld.demo.placement;
