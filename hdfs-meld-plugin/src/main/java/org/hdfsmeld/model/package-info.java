/**
 * What is said of a block, by whoever says it: its key, the NameNode's hint, the read pattern and
 * the decision. Values only, for every other package.
 */
package org.hdfsmeld.model;
