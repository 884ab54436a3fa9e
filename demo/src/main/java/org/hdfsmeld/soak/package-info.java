/**
 * A long run of mixed work over restarts. In: minutes. Out: a verdict, whether memory stayed flat
 * and each device holds what its disk holds. The main thread restarts DataNodes and samples memory;
 * each client has a thread.
 */
package org.hdfsmeld.soak;
