package org.hdfsmeld.spark.query;

import java.util.Locale;

/**
 * Queries of TPC-H over lineitem, with the substitution parameters of the specification's query
 * validation (TPC-H 3.0.1, clauses 2.4.1.3 and 2.4.6.3).
 */
public enum TpchQuery {
  /** Pricing summary report: nearly all rows, 7 of 16 columns. */
  Q1(
      """
      select
        l_returnflag, l_linestatus,
        sum(l_quantity) as sum_qty,
        sum(l_extendedprice) as sum_base_price,
        sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
        sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
        avg(l_quantity) as avg_qty,
        avg(l_extendedprice) as avg_price,
        avg(l_discount) as avg_disc,
        count(*) as count_order
      from lineitem
      where l_shipdate <= date '1998-12-01' - interval '90' day
      group by l_returnflag, l_linestatus
      order by l_returnflag, l_linestatus"""),
  /** Forecasting revenue change: about 2 % of the rows, 4 of 16 columns. */
  Q6(
      """
      select sum(l_extendedprice * l_discount) as revenue
      from lineitem
      where l_shipdate >= date '1994-01-01'
        and l_shipdate < date '1994-01-01' + interval '1' year
        and l_discount between 0.06 - 0.01 and 0.06 + 0.01
        and l_quantity < 24""");

  private final String sql;

  TpchQuery(String sql) {
    this.sql = sql;
  }

  /** Over a view named lineitem. */
  String sql() {
    return sql;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
