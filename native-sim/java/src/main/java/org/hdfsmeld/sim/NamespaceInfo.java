package org.hdfsmeld.sim;

/**
 * A namespace of a simulated device.
 *
 * @param nsid its identifier
 * @param lbaBytes bytes of a logical block
 * @param sizeLbas logical blocks; thin, so it may exceed the device's capacity
 * @param pageBytes bytes of a flash page: the smallest write that costs no more than itself
 * @param wordlineBytes bytes of a wordline: the preferred unit of sequential reads and writes
 * @param capacityBytes physical capacity of the device
 * @param handles its reclaim unit handles; 0 without flexible data placement
 */
public record NamespaceInfo(
    int nsid,
    long lbaBytes,
    long sizeLbas,
    long pageBytes,
    long wordlineBytes,
    long capacityBytes,
    int handles) {}
