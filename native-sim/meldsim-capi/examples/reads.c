/* How long a 64 KiB read takes alone, and behind a 1 MiB read that came just before.
 *
 * docs/how-to/embed-in-c.md shows this file, and says how to build it. */
#include <meldsim.h>
#include <stdio.h>
#include <stdlib.h>

/* Everything below 0 is an error; its text belongs to the thread that got it. */
static int64_t must(int64_t outcome) {
  if (outcome >= 0) return outcome;
  char text[512] = "";
  meldsim_last_error(text, sizeof text);
  fprintf(stderr, "meldsim: %s\n", text);
  exit(1);
}

int main(void) {
  int64_t device;
  uint32_t nsid;
  must(meldsim_open(MELDSIM_ABI_VERSION, "melded-tlc-8x8", &device));
  must(meldsim_namespace_create(device, UINT64_C(1) << 30, &nsid));
  must(meldsim_preload(device, nsid, 0, 65536, MELDSIM_DIRECTIVE_NONE)); /* 256 MiB of 4 KiB blocks, there for long */

  int64_t alone = must(meldsim_submit(device, MELDSIM_READ, nsid, 0, 16, 0, 0));
  printf("64 KiB alone:         %6.1f us\n", (double)must(meldsim_wait(device, alone, UINT64_MAX)) * 1e-6);

  int64_t large = must(meldsim_submit(device, MELDSIM_READ, nsid, 4096, 256, 0, 0));
  int64_t small = must(meldsim_submit(device, MELDSIM_READ, nsid, 8192, 16, 0, 0));
  printf("64 KiB behind 1 MiB:  %6.1f us\n", (double)must(meldsim_wait(device, small, UINT64_MAX)) * 1e-6);
  printf("the 1 MiB itself:     %6.1f us\n", (double)must(meldsim_wait(device, large, UINT64_MAX)) * 1e-6);
  return (int)must(meldsim_close(device));
}
