package org.hdfsmeld.sim;

import java.util.List;

/** Counters of a simulated device, in the order of the C ABI. Names end in their unit. */
public final class SimStats {
  /** Names as in {@code meldsim_stats}; {@code _ps} is simulated picoseconds. */
  public static final List<String> NAMES =
      List.of(
          "now_ps",
          "read_commands",
          "write_commands",
          "deallocate_commands",
          "flush_commands",
          "failed_commands",
          "host_read_bytes",
          "host_written_bytes",
          "read_active_ps",
          "active_ps",
          "read_latency_ps",
          "page_reads",
          "melded_reads",
          "melded_pages_read",
          "buffer_page_reads",
          "unmapped_page_reads",
          "programs",
          "host_pages_programmed",
          "padded_pages",
          "melded_wordlines_programmed",
          "erases",
          "gc_pages_moved",
          "channel_busy_ps",
          "die_busy_ps",
          "channels",
          "dies",
          "mapped_pages",
          "melded_mapped_pages",
          "free_blocks",
          "capacity_pages");

  /** How many counters there are. */
  public static final int COUNT = NAMES.size();

  private SimStats() {}
}
