package org.hdfsmeld.model;

/** Names a block on a DataNode. */
public record BlockKey(String pool, long id) {}
