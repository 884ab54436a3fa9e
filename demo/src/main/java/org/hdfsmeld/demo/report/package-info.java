/**
 * The layouts' result for people. In: a {@link org.hdfsmeld.demo.layout.DemoResult}. Out: a table,
 * an HTML page, and whether the bars are met. No state; in the main thread.
 */
package org.hdfsmeld.demo.report;
