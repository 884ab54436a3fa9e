/**
 * What recordings on demand have in common: the ring that holds records, and the private folder of
 * their files. Any thread adds records, and none waits.
 */
package org.hdfsmeld.record;
