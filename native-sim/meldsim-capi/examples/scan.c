/* A host that scans a file with a window of reads outstanding, once on data laid out normally, once melded.
 *
 *            window of 16 tickets
 *   submit --> [ 1 MiB | 1 MiB | ... | 1 MiB ] --> wait for the oldest --> next
 *
 * Build and run (from native-sim, after cargo build --release -p libmeldsim):
 *   cc -std=c11 -I meldsim-capi/include meldsim-capi/examples/scan.c -L target/release -lmeldsim -o scan
 *   LD_LIBRARY_PATH=target/release ./scan
 */
#include <meldsim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 16 };
#define REQUEST_BYTES (UINT64_C(1) << 20)
#define FILE_BYTES (UINT64_C(256) << 20)

/* Everything below 0 is an error; its text belongs to the thread that got it. */
static int64_t must(int64_t outcome, const char *what) {
  if (outcome < 0) {
    char text[512] = "";
    meldsim_last_error(text, sizeof text);
    fprintf(stderr, "%s: error %" PRId64 ": %s\n", what, outcome, text);
    exit(1);
  }
  return outcome;
}

/* A counter by its name: which there are, and in which order, is the library's business. */
static uint64_t counter(int64_t device, const char *name) {
  uint64_t values[512];
  int64_t count = must(meldsim_stats(device, values, 512), "meldsim_stats");
  for (uint32_t at = 0; at < 512 && at < count; at++) {
    if (strcmp(meldsim_stats_name(at), name) == 0) return values[at];
  }
  fprintf(stderr, "this libmeldsim has no counter %s\n", name);
  exit(1);
}

static void scan(const char *layout, uint32_t directive) {
  int64_t device = 0;
  must(meldsim_open(MELDSIM_ABI_VERSION, "melded-tlc-8x8", &device), "meldsim_open");

  uint32_t nsid = 0;
  meldsim_namespace info = {.size = sizeof info};
  must(meldsim_namespace_create(device, FILE_BYTES, &nsid), "meldsim_namespace_create");
  must(meldsim_namespace_info(device, nsid, &info), "meldsim_namespace_info");
  const uint64_t lba_bytes = info.lba_bytes;

  /* The file has been on the device for long. */
  must(meldsim_preload(device, nsid, 0, FILE_BYTES / lba_bytes, directive), "meldsim_preload");

  int64_t window[WINDOW] = {0};
  int64_t slowest_ps = 0;
  const uint64_t requests = FILE_BYTES / REQUEST_BYTES;
  for (uint64_t at = 0; at < requests + WINDOW; at++) {
    int64_t *slot = &window[at % WINDOW];
    if (*slot != 0) {
      int64_t latency_ps = must(meldsim_wait(device, *slot, UINT64_MAX), "meldsim_wait");
      if (latency_ps > slowest_ps) slowest_ps = latency_ps;
      *slot = 0;
    }
    if (at < requests) {
      uint64_t slba = at * REQUEST_BYTES / lba_bytes;
      uint32_t nlb = (uint32_t)(REQUEST_BYTES / lba_bytes);
      *slot = must(meldsim_submit(device, MELDSIM_READ, nsid, slba, nlb, 0, 0), "meldsim_submit");
    }
  }

  double seconds = (double)counter(device, "now_ps") * 1e-12;
  printf("%s: %.0f MiB/s, slowest request %.0f us, %" PRIu64 " melded reads (simulated)\n", layout,
         (double)(FILE_BYTES >> 20) / seconds, (double)slowest_ps * 1e-6, counter(device, "melded_reads"));
  must(meldsim_close(device), "meldsim_close");
}

int main(void) {
  scan("normal", MELDSIM_DIRECTIVE_NONE);
  scan("melded", MELDSIM_DIRECTIVE_SEQUENTIAL);
  return 0;
}
