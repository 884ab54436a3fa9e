/**
 * Comparison of many runs. In: the jobs' records, as JSON files. Out: medians and spread as a
 * table, as JSON and as a page that needs nothing else, and whether expectations hold. Runs in one
 * thread of a process without Spark. The demo draws its page with the same charts.
 */
package org.hdfsmeld.report;
