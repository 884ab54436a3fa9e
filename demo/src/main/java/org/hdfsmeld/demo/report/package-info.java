/**
 * The layouts' result for people. In: a {@link org.hdfsmeld.demo.layout.DemoResult}. Out: a table,
 * and whether the bars are met; the simulator's library draws the page of the record. No state; in
 * the main thread.
 */
package org.hdfsmeld.demo.report;
