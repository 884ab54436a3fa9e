/**
 * The same data in the normal and the melded layout, scanned by Spark: stock, normal, melded. In:
 * what the user chose. Out: a {@link org.hdfsmeld.demo.layout.DemoResult}. Runs in the main thread,
 * but for the placement policy, which the NameNode's handlers call.
 */
package org.hdfsmeld.demo.layout;
