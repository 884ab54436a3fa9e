/**
 * Benchmark jobs on any HDFS, and the report on their results. Here is what users name: the classes
 * for {@code spark-submit --class}, the report's, and the listener for {@code
 * spark.extraListeners}. They take a command line, run in the driver's main thread, and give one
 * {@link RunRecord} as JSON. What a job does has a package below; each package knows only those
 * above it in this list, and no job another:
 *
 * <ol>
 *   <li>{@code cli}: what all command lines share
 *   <li>{@code measure}: latencies, and the throughput of stages
 *   <li>{@code data}: what the files hold
 *   <li>{@code task}: work on Spark's executors
 *   <li>{@code devices}: what the DataNodes' simulated devices did
 *   <li>{@code timeline}: which task read which HDFS block when, for {@code spark.plugins}
 *   <li>{@code generate}, {@code scan}, {@code lookup}, {@code query}, {@code mixed}, {@code sort},
 *       {@code churn}: a job each
 *   <li>{@code sweep}: the cells of {@link Sweep} and {@link Replay}
 * </ol>
 *
 * <p>{@link Report} has the simulator's library read the records again.
 */
package org.hdfsmeld.spark;
