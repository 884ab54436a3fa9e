package org.hdfsmeld.sim;

/**
 * Flexible data placement of an NVM set since its device was opened.
 *
 * @param handles reclaim unit handles; the placement identifiers are their numbers, from 0
 * @param reclaimUnitBytes bytes of a reclaim unit
 * @param hostBytesWritten bytes that the host wrote
 * @param mediaBytesWritten bytes programmed to flash
 * @param mediaBytesErased bytes of the blocks that were erased
 * @param notFullyWritten reclaim units that were left before they were full
 * @param invalidPlacementIdentifiers writes that named a placement identifier that does not exist
 * @param mediaReallocated reclaim units whose data was moved
 */
public record FdpInfo(
    int handles,
    long reclaimUnitBytes,
    long hostBytesWritten,
    long mediaBytesWritten,
    long mediaBytesErased,
    long notFullyWritten,
    long invalidPlacementIdentifiers,
    long mediaReallocated) {}
