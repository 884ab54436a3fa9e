package org.hdfsmeld.spark.data;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterators;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tables against the cardinalities of the TPC-H specification, and against themselves. */
class TestTable {
  private static final double SCALE = 0.01;

  @ParameterizedTest
  @CsvSource({"ORDERS, 1, 15000", "ORDERS, 7, 15000", "LINEITEM, 1, 60175", "LINEITEM, 7, 60175"})
  void hasTheSpecifiedCardinality(Table table, int parts, int rows) {
    int counted = 0;
    for (int part = 0; part < parts; part++) {
      counted += Iterators.size(table.lines(SCALE, part, parts));
    }
    assertThat(counted).isEqualTo(rows);
  }

  @ParameterizedTest
  @CsvSource({"ORDERS", "LINEITEM"})
  void partsAreTheWholeAndTheSameEachTime(Table table) {
    List<String> whole = ImmutableList.copyOf(table.lines(SCALE, 0, 1));
    List<String> parts = new ArrayList<>();
    for (int part = 0; part < 3; part++) {
      Iterators.addAll(parts, table.lines(SCALE, part, 3));
    }
    assertThat(parts).isEqualTo(whole);
  }

  @Test
  void linesAreThoseOfDbgen() {
    // The first line of lineitem.tbl and of orders.tbl as dbgen writes them at scale factor 1.
    assertThat(Table.LINEITEM.lines(1, 0, 1).next())
        .isEqualTo(
            "1|155190|7706|1|17|21168.23|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22"
                + "|DELIVER IN PERSON|TRUCK|egular courts above the|");
    assertThat(Table.ORDERS.lines(1, 0, 1).next())
        .isEqualTo(
            "1|36901|O|173665.47|1996-01-02|5-LOW|Clerk#000000951|0"
                + "|nstructions sleep furiously among |");
  }

  @ParameterizedTest
  @CsvSource({"ORDERS", "LINEITEM"})
  void rowsHaveTheColumnsOfTheLines(Table table) {
    Row row = table.rows(SCALE, 0, 1).next();
    String[] fields = table.lines(SCALE, 0, 1).next().split("\\|", -1);
    assertThat(row.size()).isEqualTo(table.schema().size()).isEqualTo(fields.length - 1);
    for (int i = 0; i < row.size(); i++) {
      String field = row.get(i).toString();
      // A quantity is printed without decimals, and is a decimal in the schema.
      assertThat(field.replaceFirst("\\.0$", "")).isEqualTo(fields[i]);
    }
  }
}
