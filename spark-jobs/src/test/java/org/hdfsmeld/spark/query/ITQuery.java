package org.hdfsmeld.spark.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hdfsmeld.spark.LocalHdfs;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.generate.TableFiles;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The queries' answers, against plain Java over the rows from which the table was made. */
class ITQuery {
  private static final double SCALE = 0.01;

  private static LocalHdfs hdfs;

  @BeforeAll
  static void generate() throws Exception {
    hdfs = new LocalHdfs("query", 2);
    TableFiles.generate(
        hdfs.session,
        new TableFiles.Request(SCALE, List.of(Format.PARQUET), 2, 2, hdfs.path("tpch"), false));
  }

  @AfterAll
  static void stop() {
    hdfs.close();
  }

  @Test
  void answersQ1() throws Exception {
    Map<String, Q1Group> groups = new TreeMap<>();
    int lastDay = (int) LocalDate.of(1998, 9, 2).toEpochDay();
    for (LineItem item : new LineItemGenerator(SCALE, 1, 1)) {
      if (item.getShipDate() <= lastDay) {
        groups
            .computeIfAbsent(item.getReturnFlag() + item.getStatus(), key -> new Q1Group())
            .add(item);
      }
    }
    List<Map<String, String>> expected = new ArrayList<>();
    groups.forEach((key, group) -> expected.add(group.row(key)));
    assertThat(expected).hasSize(4);
    assertThat(ask(1, TpchQuery.Q1).queries().get(0).answer()).isEqualTo(expected);
  }

  @Test
  void answersQ6() throws Exception {
    BigDecimal revenue = BigDecimal.ZERO;
    for (LineItem item : new LineItemGenerator(SCALE, 1, 1)) {
      if (LocalDate.ofEpochDay(item.getShipDate()).getYear() == 1994
          && item.getDiscountPercent() >= 5
          && item.getDiscountPercent() <= 7
          && item.getQuantity() < 24) {
        revenue =
            revenue.add(
                BigDecimal.valueOf(item.getExtendedPriceInCents() * item.getDiscountPercent(), 4));
      }
    }
    assertThat(ask(1, TpchQuery.Q6).queries().get(0).answer())
        .containsExactly(Map.of("revenue", revenue.toPlainString()));
  }

  @Test
  void readsColumnsAndNotTheWhole() throws Exception {
    QueryRun.Result result = ask(2, TpchQuery.Q1, TpchQuery.Q6);
    assertThat(result.queries())
        .extracting(QueryRun.Answered::query)
        .containsExactly(TpchQuery.Q1, TpchQuery.Q6);
    assertThat(result.queries()).allSatisfy(query -> assertThat(query.runs()).hasSize(2));
    for (QueryRun.Run q1 : result.queries().get(0).runs()) {
      for (QueryRun.Run q6 : result.queries().get(1).runs()) {
        assertThat(q6.readBytes()).isPositive().isLessThan(q1.readBytes());
      }
      assertThat(q1.readBytes()).isLessThan(result.fileBytes() * 3 / 4);
      assertThat(q1.wallSeconds()).isPositive();
    }
  }

  @Test
  void asksForOneTable() {
    assertThatThrownBy(() -> ask("parquet/orders", 1, TpchQuery.Q6))
        .hasMessageContaining("has 0 directories lineitem");
  }

  private static QueryRun.Result ask(int repeat, TpchQuery... queries) throws Exception {
    return ask("parquet", repeat, queries);
  }

  private static QueryRun.Result ask(String name, int repeat, TpchQuery... queries)
      throws Exception {
    return QueryRun.run(
        hdfs.session,
        new QueryRun.Request(List.of(hdfs.path("tpch/" + name)), List.of(queries), repeat));
  }

  private static final class Q1Group {
    private long quantity;
    private long price;
    private long discount;
    private long count;
    private BigDecimal discounted = BigDecimal.ZERO;
    private BigDecimal charge = BigDecimal.ZERO;

    void add(LineItem item) {
      count++;
      quantity += item.getQuantity();
      price += item.getExtendedPriceInCents();
      discount += item.getDiscountPercent();
      long afterDiscount = item.getExtendedPriceInCents() * (100 - item.getDiscountPercent());
      discounted = discounted.add(BigDecimal.valueOf(afterDiscount, 4));
      charge = charge.add(BigDecimal.valueOf(afterDiscount * (100 + item.getTaxPercent()), 6));
    }

    Map<String, String> row(String key) {
      Map<String, String> row = new LinkedHashMap<>();
      row.put("l_returnflag", key.substring(0, 1));
      row.put("l_linestatus", key.substring(1));
      row.put("sum_qty", BigDecimal.valueOf(quantity * 100, 2).toPlainString());
      row.put("sum_base_price", BigDecimal.valueOf(price, 2).toPlainString());
      row.put("sum_disc_price", discounted.toPlainString());
      row.put("sum_charge", charge.toPlainString());
      row.put("avg_qty", average(quantity, 0));
      row.put("avg_price", average(price, 2));
      row.put("avg_disc", average(discount, 2));
      row.put("count_order", Long.toString(count));
      return row;
    }

    private String average(long sum, int scale) {
      return BigDecimal.valueOf(sum, scale)
          .divide(BigDecimal.valueOf(count), 6, RoundingMode.HALF_UP)
          .toPlainString();
    }
  }
}
