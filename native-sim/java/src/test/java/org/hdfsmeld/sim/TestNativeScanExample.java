package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The example runs, and shows what it says it shows. */
class TestNativeScanExample {
  @Test
  void meldedDataIsScannedFaster() throws SimException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);
    double normal = ScanExample.scan("melded-tlc-8x8", "normal", Directive.NONE, out);
    double melded =
        ScanExample.scan("melded-tlc-8x8", "melded", Directive.sequential(1 << 20), out);
    assertThat(melded).isGreaterThan(1.3 * normal);
    assertThat(text.toString(StandardCharsets.UTF_8))
        .contains("normal: ", "melded: ", " 0 melded reads (simulated)");
  }
}
