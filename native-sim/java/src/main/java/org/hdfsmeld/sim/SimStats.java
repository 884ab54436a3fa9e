package org.hdfsmeld.sim;

import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Counters of a simulated device. Which there are and where is the library's business: {@link
 * SimDevice#statNames} says it, and a caller looks a counter up by its name. Names end in their
 * unit; {@code _ps} is simulated picoseconds.
 */
public final class SimStats {
  /** Counters that every library has; what they count is in {@code docs/reference/counters.md}. */
  public static final List<String> NAMES =
      List.of(
          """
          now_ps read_commands write_commands deallocate_commands flush_commands failed_commands
          host_read_bytes host_written_bytes read_active_ps active_ps read_latency_ps page_reads
          melded_reads melded_pages_read buffer_page_reads unmapped_page_reads programs
          host_pages_programmed padded_pages melded_wordlines_programmed erases gc_pages_moved
          channel_busy_ps die_busy_ps channels dies mapped_pages melded_mapped_pages free_blocks
          capacity_pages"""
              .split("\\s+"));

  private SimStats() {}

  /** All names of a list of the loaded library, in the order of its counters. */
  static List<String> ofLibrary(IntFunction<Pointer> nameAt) {
    List<String> names = new ArrayList<>();
    for (Pointer name = nameAt.apply(0); name != null; name = nameAt.apply(names.size())) {
      names.add(name.getString(0, StandardCharsets.UTF_8.name()));
    }
    return List.copyOf(names);
  }
}
