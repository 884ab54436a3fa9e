/**
 * What the DataNodes' simulated devices did during a job. In: the plugin's beans, which the driver
 * reads over HTTP before and after the job, and the tasks' times, from Spark's listener bus. Out: a
 * {@link org.hdfsmeld.spark.devices.SimulatorUse} for the job's record. Runs in the driver.
 */
package org.hdfsmeld.spark.devices;
