/**
 * Which task read which part of which HDFS block when, of any application. In: read calls, in the
 * threads of tasks, through {@link org.hdfsmeld.spark.timeline.RecordingFileSystem}; stages and
 * tasks from Spark's listener bus. A daemon thread of each executor sends what was read to the
 * driver, where {@link org.hdfsmeld.spark.timeline.TimelinePlugin} writes one file by a thread of
 * its own. Queues are bounded, and no failure here reaches a task.
 */
package org.hdfsmeld.spark.timeline;
