package org.hdfsmeld.model;

/**
 * Names a block on a DataNode.
 *
 * @param pool block pool id
 * @param id block id
 */
public record BlockKey(String pool, long id) {}
