/** A long run of mixed work over restarts, which ends with a comparison of devices and disks. */
package org.hdfsmeld.soak;
