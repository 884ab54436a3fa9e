package org.hdfsmeld.spark.task;

import org.apache.spark.sql.SparkSession;
import scala.Tuple2;
import scala.collection.Iterator;

/** Sessions of one application. */
public final class Sessions {
  private Sessions() {}

  /** A session of the same context and SQL configuration, which may then be changed. */
  public static SparkSession copy(SparkSession session) {
    SparkSession own = session.newSession();
    Iterator<Tuple2<String, String>> entries = session.conf().getAll().iterator();
    while (entries.hasNext()) {
      Tuple2<String, String> entry = entries.next();
      if (entry._1().startsWith("spark.sql.") && own.conf().isModifiable(entry._1())) {
        own.conf().set(entry._1(), entry._2());
      }
    }
    return own;
  }
}
