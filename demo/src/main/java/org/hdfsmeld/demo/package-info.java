/** The demo: stock, normal and melded layout side by side, in one JVM. */
package org.hdfsmeld.demo;
