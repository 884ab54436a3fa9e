package org.hdfsmeld.spark.data;

import com.google.common.collect.Iterators;
import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import io.trino.tpch.Order;
import io.trino.tpch.OrderGenerator;
import io.trino.tpch.TpchEntity;
import java.math.BigDecimal;
import java.sql.Date;
import java.time.LocalDate;
import java.util.Iterator;
import java.util.Locale;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;

/** The TPC-H tables that the jobs write. A part of a table is the same bytes on every machine. */
public enum Table {
  /** The large one: about 725 MiB of text at scale factor 1. */
  LINEITEM(
      """
      l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int,
      l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2),
      l_tax decimal(15,2), l_returnflag string, l_linestatus string, l_shipdate date,
      l_commitdate date, l_receiptdate date, l_shipinstruct string, l_shipmode string,
      l_comment string""") {
    @Override
    Iterator<? extends TpchEntity> entities(double scale, int part, int parts) {
      return new LineItemGenerator(scale, part, parts).iterator();
    }

    @Override
    Row toRow(TpchEntity entity) {
      LineItem item = (LineItem) entity;
      return RowFactory.create(
          item.getOrderKey(),
          item.getPartKey(),
          item.getSupplierKey(),
          item.getLineNumber(),
          BigDecimal.valueOf(item.getQuantity()),
          hundredths(item.getExtendedPriceInCents()),
          hundredths(item.getDiscountPercent()),
          hundredths(item.getTaxPercent()),
          item.getReturnFlag(),
          item.getStatus(),
          date(item.getShipDate()),
          date(item.getCommitDate()),
          date(item.getReceiptDate()),
          item.getShipInstructions(),
          item.getShipMode(),
          item.getComment());
    }
  },
  /** About 164 MiB of text at scale factor 1. */
  ORDERS(
      """
      o_orderkey bigint, o_custkey bigint, o_orderstatus string, o_totalprice decimal(15,2),
      o_orderdate date, o_orderpriority string, o_clerk string, o_shippriority int,
      o_comment string""") {
    @Override
    Iterator<? extends TpchEntity> entities(double scale, int part, int parts) {
      return new OrderGenerator(scale, part, parts).iterator();
    }

    @Override
    Row toRow(TpchEntity entity) {
      Order order = (Order) entity;
      return RowFactory.create(
          order.getOrderKey(),
          order.getCustomerKey(),
          String.valueOf(order.getOrderStatus()),
          hundredths(order.getTotalPriceInCents()),
          date(order.getOrderDate()),
          order.getOrderPriority(),
          order.getClerk(),
          order.getShipPriority(),
          order.getComment());
    }
  };

  private final String ddl;

  Table(String ddl) {
    this.ddl = ddl;
  }

  abstract Iterator<? extends TpchEntity> entities(double scale, int part, int parts);

  abstract Row toRow(TpchEntity entity);

  /** The columns, named and typed as in the TPC-H specification. */
  public StructType schema() {
    return StructType.fromDDL(ddl);
  }

  /** The lines of one part; parts count from zero. */
  public Iterator<String> lines(double scale, int part, int parts) {
    return Iterators.transform(entities(scale, part + 1, parts), TpchEntity::toLine);
  }

  /** The rows of one part, in the order of {@link #lines}; parts count from zero. */
  public Iterator<Row> rows(double scale, int part, int parts) {
    return Iterators.transform(entities(scale, part + 1, parts), this::toRow);
  }

  /** The directory of the table, and its name in TPC-H. */
  public String directory() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return directory();
  }

  private static BigDecimal hundredths(long value) {
    return BigDecimal.valueOf(value, 2);
  }

  private static Date date(int epochDay) {
    return Date.valueOf(LocalDate.ofEpochDay(epochDay));
  }
}
