/** {@code hdfs meld}: the command of administrators and users. */
package org.hdfsmeld.tools;
