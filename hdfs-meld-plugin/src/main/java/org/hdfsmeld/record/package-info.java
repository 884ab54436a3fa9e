/** What recordings have in common: the ring, where no thread waits, and the private folder. */
package org.hdfsmeld.record;
