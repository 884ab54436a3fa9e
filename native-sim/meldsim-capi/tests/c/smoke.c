/* A C caller of libmeldsim: opens a device, writes, reads back, waits, gives hints, moves it through its predictable latency
 * windows, takes a snapshot and restores it, and provokes the documented errors. */
#include <meldsim.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, int line, int64_t got) {
  char text[512] = "";
  meldsim_last_error(text, sizeof text);
  fprintf(stderr, "line %d: %s: got %" PRId64 ", last error: %s\n", line, what, got, text);
  exit(1);
}

#define CHECK(expression, condition)                                                                                   \
  do {                                                                                                                 \
    int64_t got = (expression);                                                                                        \
    if (!(got condition)) fail(#expression " " #condition, __LINE__, got);                                             \
  } while (0)

/* Counters are found by name: their number and order are the library's business. */
static int64_t counter(int64_t device, const char *name) {
  uint64_t values[256];
  CHECK(meldsim_stats(device, values, 256), <= 256);
  for (uint32_t at = 0; meldsim_stats_name(at) != NULL; at++) {
    if (strcmp(meldsim_stats_name(at), name) == 0) return (int64_t)values[at];
  }
  fail(name, __LINE__, -1);
  return -1;
}

static int64_t namespace_counter(int64_t device, uint32_t nsid, const char *name) {
  uint64_t values[256];
  CHECK(meldsim_namespace_stats(device, nsid, values, 256), <= 256);
  for (uint32_t at = 0; meldsim_namespace_stats_name(at) != NULL; at++) {
    if (strcmp(meldsim_namespace_stats_name(at), name) == 0) return (int64_t)values[at];
  }
  fail(name, __LINE__, -1);
  return -1;
}

/* Ranges that will be read sequentially, streams, queues; and where the data is. */
static void hints(int64_t device, uint32_t nsid, uint64_t slba, uint32_t blocks) {
  meldsim_range ranges[2] = {
      {.size = sizeof ranges[0], .attributes = MELDSIM_RANGE_SEQUENTIAL_READ, .nlb = blocks, .slba = slba},
      {.size = sizeof ranges[0], .nlb = blocks, .slba = slba + blocks},
  };
  meldsim_queue_shares shares = {.size = sizeof shares, .high = 4, .medium = 2, .low = 1};
  meldsim_location location = {.size = sizeof location};
  meldsim_page_counts pages = {.size = sizeof pages};
  uint64_t bound[17];
  uint32_t queue = 0;
  CHECK(meldsim_describe(device, nsid, ranges, 2), == MELDSIM_OK);
  CHECK(meldsim_stream_bind(device, nsid, 1, MELDSIM_DIRECTIVE_RANDOM), == MELDSIM_OK);
  CHECK(meldsim_streams_bound(device, nsid, bound, 17), == 17);
  CHECK(bound[1], == 2);
  CHECK(meldsim_set_arbitration(device, &shares), == MELDSIM_OK);
  shares.high = 0;
  CHECK(meldsim_arbitration(device, &shares), == MELDSIM_OK);
  CHECK(shares.high, == 4);
  CHECK(meldsim_queue_create(device, 4, MELDSIM_PRIORITY_HIGH, &queue), == MELDSIM_OK);
  meldsim_command write = {.size = sizeof write, .opcode = MELDSIM_WRITE, .nsid = nsid, .nlb = blocks, .slba = slba};
  write.directive = MELDSIM_DIRECTIVE_STREAM | 1;
  write.queue = queue;
  CHECK(meldsim_submit_batch(device, &write, 1, MELDSIM_DETACHED), == 0);
  CHECK(meldsim_queued(device, queue), == 0);
  CHECK(meldsim_stream_release(device, nsid, 1), == MELDSIM_OK);
  CHECK(meldsim_advance(device, UINT64_C(1000000000000)), == MELDSIM_OK);
  CHECK(meldsim_locate(device, nsid, slba, &location), == MELDSIM_OK);
  CHECK(location.kind, == MELDSIM_ON_FLASH);
  CHECK(meldsim_layout(device, nsid, slba, blocks, &pages), == MELDSIM_OK);
  CHECK(pages.mapped, > 0);
  int64_t gone = meldsim_deallocate(device, nsid, ranges, 2, 0, 0);
  CHECK(meldsim_wait(device, gone, UINT64_MAX), >= 0);
  /* A caller that knows the first field only. */
  location.size = 8;
  CHECK(meldsim_locate(device, nsid, slba, &location), == MELDSIM_OK);
  CHECK(location.kind, == MELDSIM_UNMAPPED);
  location.size = 0;
  CHECK(meldsim_locate(device, nsid, slba, &location), == MELDSIM_ERR_ARGUMENT);
}

static void windows(int64_t device) {
  meldsim_window window = {.size = sizeof window};
  meldsim_window_config config = {.size = sizeof config, .enable = 1, .events = 0xC000};
  meldsim_nvm_set set = {.size = sizeof set};
  CHECK(meldsim_window_enter(device, 0, MELDSIM_WINDOW_DETERMINISTIC), == MELDSIM_ERR_ARGUMENT);
  CHECK(meldsim_window_configure(device, 0, &config), == MELDSIM_OK);
  CHECK(meldsim_window_enter(device, 0, MELDSIM_WINDOW_DETERMINISTIC), == MELDSIM_OK);
  CHECK(meldsim_window_info(device, 0, 1, &window), == MELDSIM_OK);
  CHECK(window.window, == MELDSIM_WINDOW_DETERMINISTIC);
  CHECK(window.events_enabled, == 0xC000);
  config.enable = 0;
  CHECK(meldsim_window_configure(device, 0, &config), == MELDSIM_OK);
  CHECK(meldsim_set_info(device, 0, &set), == MELDSIM_OK);
  CHECK(set.read_commands, == 4);
  CHECK(set.capacity_pages > set.mapped_pages, == 1);
}

static void snapshot(int64_t device, uint32_t nsid) {
  int64_t size = meldsim_snapshot(device, NULL, 0), restored = 0;
  CHECK(size, > 0);
  uint8_t *bytes = malloc((size_t)size);
  CHECK(bytes != NULL, == 1);
  CHECK(meldsim_snapshot(device, bytes, (uint64_t)size), == size);
  CHECK(meldsim_restore(MELDSIM_ABI_VERSION, bytes, (uint64_t)size, &restored), == MELDSIM_OK);
  CHECK(counter(restored, "mapped_pages"), == counter(device, "mapped_pages"));
  CHECK(meldsim_namespaces(restored), == (int64_t)nsid);
  CHECK(meldsim_profile(restored, NULL, 0), == meldsim_profile(device, NULL, 0));
  CHECK(meldsim_memory_bytes(restored), > 0);
  CHECK(meldsim_close(restored), == MELDSIM_OK);
  bytes[size - 1] ^= 1;
  CHECK(meldsim_restore(MELDSIM_ABI_VERSION, bytes, (uint64_t)size, &restored), == MELDSIM_ERR_SNAPSHOT);
  free(bytes);
}

/* NVM sets, preconditioning, who moves time, and how busy it all was. */
static void used(void) {
  int64_t device = 0, ticket = 0;
  uint32_t nsid = 0;
  uint64_t channels[8], dies[64], due_ns;
  int64_t done[2];
  int32_t reaped;
  CHECK(meldsim_open(MELDSIM_ABI_VERSION, "melded-tlc-8x8", &device), == MELDSIM_OK);
  CHECK(meldsim_sets(device), == 1);
  CHECK(meldsim_namespace_create_in(device, 0, UINT64_C(1) << 26, &nsid), == MELDSIM_OK);
  CHECK(meldsim_preload(device, nsid, 0, 256, MELDSIM_DIRECTIVE_RANDOM), == MELDSIM_OK);
  CHECK(meldsim_precondition(device, 50, 0), == MELDSIM_OK);
  CHECK(counter(device, "mapped_pages"), == (1 << 25) / 4096);
  CHECK(namespace_counter(device, nsid, "mapped_pages"), == (1 << 25) / 4096);
  CHECK(meldsim_precondition_by(device, "fill=50,random=10,skew=zipf:0.9"), == MELDSIM_OK);
  CHECK(meldsim_namespace_stats(device, nsid + 1, NULL, 0), == MELDSIM_ERR_NAMESPACE);
  CHECK(meldsim_set_mode(device, MELDSIM_REAL_TIME, 0.001), == MELDSIM_OK);
  CHECK(meldsim_wait(device, meldsim_submit(device, MELDSIM_READ, nsid, 0, 64, 0, 0), UINT64_MAX), > 0);
  ticket = meldsim_submit(device, MELDSIM_READ, nsid, 0, 64, 0, MELDSIM_POSTED);
  do {
    reaped = meldsim_reap(device, done, 1, &due_ns);
  } while (reaped == 0);
  CHECK(reaped, == 1);
  CHECK(done[0] == ticket && done[1] > 0, == 1);
  CHECK(meldsim_set_mode(device, MELDSIM_ACCOUNT, 1), == MELDSIM_OK);
  ticket = meldsim_submit(device, MELDSIM_READ, nsid, 0, 64, 0, MELDSIM_NO_WAIT);
  CHECK(meldsim_forget(device, ticket), == MELDSIM_OK);
  CHECK(meldsim_latency(device, MELDSIM_READ, 0.5), > 0);
  CHECK(meldsim_channels_busy_ps(device, channels, 8), == 8);
  CHECK(meldsim_dies_busy_ps(device, dies, 64), == 64);
  CHECK(channels[0] > 0 && dies[0] > 0, == 1);
  CHECK(strlen(meldsim_stats_description(0)), > 0);
  CHECK(strlen(meldsim_namespace_stats_description(0)), > 0);
  CHECK(meldsim_close(device), == MELDSIM_OK);
}

/* Flexible data placement: two writes by their handles, one by a handle that does not exist. */
static void placement(void) {
  int64_t device = 0;
  uint32_t nsid = 0;
  uint64_t left[8], events[5];
  meldsim_fdp info = {.size = sizeof info};
  CHECK(meldsim_open(MELDSIM_ABI_VERSION, "pm9d3a", &device), == MELDSIM_OK);
  CHECK(meldsim_namespace_create_in(device, 0, UINT64_C(1) << 26, &nsid), == MELDSIM_OK);
  CHECK(meldsim_fdp_info(device, 0, &info), == MELDSIM_OK);
  CHECK(meldsim_handles(device, nsid, left, 8), == (int32_t)info.handles);
  CHECK(meldsim_wait(device, meldsim_submit(device, MELDSIM_WRITE, nsid, 0, 64, MELDSIM_DIRECTIVE_PLACEMENT | 1, 0), UINT64_MAX), > 0);
  CHECK(meldsim_handle_update(device, nsid, 1), == MELDSIM_OK);
  CHECK(meldsim_wait(device, meldsim_submit(device, MELDSIM_WRITE, nsid, 64, 64, MELDSIM_DIRECTIVE_PLACEMENT | 100, 0), UINT64_MAX), > 0);
  CHECK(meldsim_fdp_events(device, 0, 1, events, 5), >= 5);
  CHECK(meldsim_fdp_info(device, 0, &info), == MELDSIM_OK);
  CHECK(info.invalid_placement_identifiers, == 1);
  CHECK(info.host_bytes_written, == 2 * 64 * 4096);
  CHECK(meldsim_close(device), == MELDSIM_OK);
}

/* Zones: an append returns where it is, a write elsewhere than at the write pointer is refused, all are reset. */
static void zones(void) {
  int64_t device = 0;
  uint32_t nsid = 0;
  uint64_t lba = 0, zone[10];
  meldsim_zones info = {.size = sizeof info};
  CHECK(meldsim_open(MELDSIM_ABI_VERSION, "zn540", &device), == MELDSIM_OK);
  CHECK(meldsim_namespace_create(device, UINT64_C(2) << 32, &nsid), == MELDSIM_OK);
  CHECK(meldsim_zones_info(device, nsid, &info), == MELDSIM_OK);
  CHECK(info.zones * info.zone_lbas * 4096, == INT64_C(2) << 32);
  for (uint64_t nth = 0; nth < 2; nth++) {
    int64_t ticket = meldsim_submit(device, MELDSIM_ZONE_APPEND, nsid, info.zone_lbas, 8, 0, 0);
    CHECK(meldsim_wait_result(device, ticket, UINT64_MAX, &lba), > 0);
    CHECK(lba - info.zone_lbas - 8 * nth, == 0);
  }
  int64_t elsewhere = meldsim_submit(device, MELDSIM_WRITE, nsid, info.zone_lbas, 8, 0, 0);
  CHECK(meldsim_wait(device, elsewhere, UINT64_MAX), == MELDSIM_ERR_ZONE);
  CHECK(meldsim_last_status(), == 0x1bc);
  CHECK(meldsim_zone_report(device, nsid, info.zone_lbas, 0, zone, 5), == 5 * ((int32_t)info.zones - 1));
  CHECK(zone[1], == 2);
  CHECK(zone[4] - info.zone_lbas, == 16);
  int64_t reset = meldsim_submit(device, MELDSIM_ZONE_MANAGE, nsid, 0, MELDSIM_ZONE_RESET | MELDSIM_ZONE_SELECT_ALL, 0, 0);
  CHECK(meldsim_wait(device, reset, UINT64_MAX), > 0);
  CHECK(meldsim_zone_report(device, nsid, 0, 1, zone, 0), == 5 * (int32_t)info.zones);
  CHECK(meldsim_close(device), == MELDSIM_OK);
}

/* Commands through memory: put in without a call, done without a call, and one thread that makes the calls. */
enum { ENTRIES = 4, SLOTS = 8, TAIL = 0, HEAD = 8, POSTED = 18, POSTS = 32, FLAGS = 5, AWAITED = 6, TURN = 7 };

static _Alignas(64) _Atomic uint64_t words[MELDSIM_RING_HEADER_WORDS + 8 * (ENTRIES + SLOTS)];

static _Atomic uint64_t *slot(uint64_t ticket) {
  return words + MELDSIM_RING_HEADER_WORDS + 8 * (ENTRIES + (ticket - 1) % SLOTS);
}

/* The only thread that puts in: it need not compare and exchange the tail. */
static uint64_t put(uint32_t opcode, uint32_t nsid, uint32_t nlb, uint64_t awaited) {
  uint64_t at = words[TAIL], ticket = at + 1, copy[5];
  _Atomic uint64_t *entry = words + MELDSIM_RING_HEADER_WORDS + 8 * (at % ENTRIES);
  meldsim_command command = {.size = sizeof command, .opcode = opcode, .nsid = nsid, .nlb = nlb};
  if (entry[TURN] != at) return 0;
  words[TAIL] = at + 1;
  memcpy(copy, &command, sizeof copy);
  for (int word = 0; word < 5; word++) entry[word] = copy[word];
  entry[FLAGS] = 0;
  entry[AWAITED] = awaited;
  slot(ticket)[0] = ticket * 2;
  entry[TURN] = at + 1;
  return ticket;
}

static void ring(void) {
  int64_t device = 0;
  uint32_t nsid = 0;
  CHECK(meldsim_open(MELDSIM_ABI_VERSION, "melded-tlc-8x8", &device), == MELDSIM_OK);
  CHECK(meldsim_namespace_create(device, UINT64_C(1) << 26, &nsid), == MELDSIM_OK);
  CHECK(meldsim_ring_run(device, 0, 0, 0), == MELDSIM_ERR_ARGUMENT);
  CHECK(meldsim_ring_attach(device, (uint64_t *)words, 3, SLOTS), == MELDSIM_ERR_ARGUMENT);
  CHECK(meldsim_ring_attach(device, (uint64_t *)words, ENTRIES, SLOTS), == MELDSIM_OK);

  CHECK((int64_t)put(MELDSIM_RING_PRELOAD, nsid, 64, 0), == 1);
  uint64_t read = put(MELDSIM_READ, nsid, 64, 0);
  CHECK((int64_t)put(MELDSIM_RING_WAIT, 0, 0, read), == 3);
  CHECK((int64_t)put(MELDSIM_FLUSH, nsid, 0, 0), == 4);
  CHECK((int64_t)put(MELDSIM_FLUSH, nsid, 0, 0), == 0); /* it is full */
  CHECK(meldsim_ring_run(device, 0, 0, 1000000000), == INT64_MAX);
  CHECK((int64_t)words[HEAD], == 4);
  CHECK((int64_t)words[POSTED], == 0);
  CHECK((int64_t)slot(read)[0], == (int64_t)(read * 2 + 1)); /* done */
  CHECK((int64_t)slot(read)[1], > 0);                        /* its latency */

  /* A failure is posted, and its slot is the caller's to end. */
  uint64_t refused = put(MELDSIM_READ, nsid + 1, 64, 0);
  CHECK(meldsim_ring_run(device, 0, 0, 1000000000), == 0);
  CHECK((int64_t)words[POSTED], == 1);
  CHECK((int64_t)words[POSTS], == (int64_t)refused);
  CHECK((int64_t)words[POSTS + 1], == MELDSIM_ERR_NAMESPACE);
  CHECK((int64_t)slot(refused)[0], == (int64_t)(refused * 2));
  CHECK(meldsim_last_error(NULL, 0), > 1);

  /* In real time the call says when there is more to do, and looks at the ring until then. */
  CHECK(meldsim_set_mode(device, MELDSIM_REAL_TIME, 1), == MELDSIM_OK);
  read = put(MELDSIM_READ, nsid, 64, 0);
  while (slot(read)[0] != read * 2 + 1) CHECK(meldsim_ring_run(device, 0, 1000000, 1000000), >= 0);
  CHECK(meldsim_close(device), == MELDSIM_OK);
  CHECK(meldsim_ring_run(device, 0, 0, 0), == MELDSIM_ERR_CLOSED);
}

/* What the device does, kept; files that there are, and what is no folder, are refused. */
static void timeline(int64_t device, uint32_t nsid) {
  uint64_t lost = 7;
  CHECK(meldsim_timeline_start(device, 1), == MELDSIM_ERR_ARGUMENT);
  CHECK(meldsim_timeline_start(device, 1 << 20), == MELDSIM_OK);
  CHECK(meldsim_wait(device, meldsim_submit(device, MELDSIM_READ, nsid, 0, 1, 0, 0), UINT64_MAX), > 0);
  CHECK(meldsim_timeline_stop(device, "/dev/null", &lost), == MELDSIM_ERR_ARGUMENT);
  CHECK(lost, == 7);
  CHECK(meldsim_timeline_stop(device, "/dev/null", &lost), == 0);
  CHECK(lost, == 0);
  CHECK(meldsim_timeline_join("/dev/null", "/dev/null", 0), == MELDSIM_ERR_ARGUMENT);
}

/* A whole workload; its result belongs to the thread. */
static void run(void) {
  const char *request = "{\"command\": \"smoke\", \"profile\": \"melded-tlc-8x8\", \"workload\": {\"job\": "
                        "{\"name\": \"x.fio\", \"text\": \"[one]\\nsize=64k\\n\"}}}";
  int64_t bytes = meldsim_run(MELDSIM_ABI_VERSION, request);
  CHECK(bytes, > 1);
  char *result = malloc((size_t)bytes);
  CHECK(result != NULL, == 1);
  CHECK(meldsim_run_result(result, (uint64_t)bytes), == bytes);
  CHECK(strstr(result, "\"jobname\": \"one\"") != NULL, == 1);
  free(result);
  CHECK(meldsim_run(MELDSIM_ABI_VERSION, "{}"), == MELDSIM_ERR_ARGUMENT);
  CHECK(meldsim_run_result(NULL, 0), == 1);
  CHECK(meldsim_report("{\"inputs\": [], \"command\": \"smoke\"}"), == MELDSIM_ERR_ARGUMENT);
}

/* A policy counts in its context: calls of rank or of_write, and how many of it there are. */
typedef struct counts {
  int64_t asked, alive;
} counts;

static void *make(void *context, const char *options, uint32_t superblocks, uint32_t pages_per_superblock) {
  if (strcmp(options, "{}") != 0 || superblocks == 0 || pages_per_superblock == 0) {
    meldsim_policy_error("has no options");
    return NULL;
  }
  ((counts *)context)->alive++;
  return context;
}

static void drop(void *policy) { ((counts *)policy)->alive--; }

/* The superblock that was closed first, and no other. */
static int32_t rank(void *policy, uint64_t now, const meldsim_candidate *candidates, uint32_t n, uint32_t most,
                    uint32_t *ranked) {
  const meldsim_candidate *first = candidates;
  for (uint32_t at = 1; at < n; at++) {
    if (candidates[at].closed_at < first->closed_at) first = &candidates[at];
  }
  ((counts *)policy)->asked++;
  if (most == 0 || n == 0 || first->closed_at > now) return 0;
  ranked[0] = first->number;
  return 1;
}

static int32_t of_write(void *policy, uint32_t space, uint64_t page, uint32_t stream) {
  ((counts *)policy)->asked++;
  return space == 0 && page < UINT64_C(1) << 40 ? (int32_t)stream : -1;
}

static int64_t overwrite(const char *key) {
  char request[512];
  snprintf(request, sizeof request,
           "{\"command\": \"smoke\", \"profile\": \"melded-tlc-8x8\", \"precondition\": \"fill=100,random=100\", \"set\": "
           "[\"geometry.blocks_per_plane=20\", \"geometry.wordlines_per_block=16\", \"%s\"], \"workload\": {\"job\": {"
           "\"name\": \"x\", \"text\": \"[a]\\nrw=write\\nsize=100%%\\nio_size=16m\\n\"}}}",
           key);
  return meldsim_run(MELDSIM_ABI_VERSION, request);
}

static void policies(void) {
  counts of_victims = {0, 0}, of_placement = {0, 0};
  meldsim_victims victims = {.size = sizeof victims, .context = &of_victims, .make = make, .drop = drop, .rank = rank};
  meldsim_placement by_stream = {
      .size = sizeof by_stream, .moved = 1, .context = &of_placement, .make = make, .drop = drop, .of_write = of_write};
  CHECK(meldsim_register_victims(MELDSIM_ABI_VERSION, "first", "the one closed first", &victims), == MELDSIM_OK);
  CHECK(meldsim_register_placement(MELDSIM_ABI_VERSION, "by-stream", "as streams", &by_stream), == MELDSIM_OK);
  CHECK(meldsim_register_victims(MELDSIM_ABI_VERSION, "greedy", "", &victims), == MELDSIM_ERR_ARGUMENT);
  CHECK(overwrite("gc.victim=first"), > 1);
  CHECK(overwrite("ftl.placement=by-stream"), > 1);
  CHECK(of_victims.asked > 0 && of_placement.asked >= 4096, == 1);
  CHECK(of_victims.alive + of_placement.alive, == 0);
  CHECK(overwrite("policy.first.age=1"), > 1);
  CHECK(overwrite("gc.victim=first\", \"policy.first.age=1"), == MELDSIM_ERR_POLICY);
}

int main(void) {
  int64_t device = 0;
  CHECK(meldsim_abi_version(), == MELDSIM_ABI_VERSION);
  CHECK(meldsim_open(MELDSIM_ABI_VERSION, "melded-tlc-8x8", &device), == MELDSIM_OK);

  uint32_t nsid = 0;
  meldsim_namespace info = {.size = sizeof info};
  CHECK(meldsim_namespace_create(device, UINT64_C(1) << 40, &nsid), == MELDSIM_OK);
  CHECK(meldsim_namespace_info(device, nsid, &info), == MELDSIM_OK);
  uint64_t lba_bytes = info.lba_bytes, wordline_bytes = info.wordline_bytes;
  CHECK(info.size_lbas * lba_bytes == UINT64_C(1) << 40, == 1);
  CHECK(wordline_bytes == 3 * info.page_bytes, == 1);

  /* 64 wordlines, hinted as sequential, nobody waits; then a flush that somebody waits for. */
  uint32_t blocks = (uint32_t)(64 * wordline_bytes / lba_bytes);
  CHECK(meldsim_submit(device, MELDSIM_WRITE, nsid, 0, blocks, MELDSIM_DIRECTIVE_SEQUENTIAL, MELDSIM_DETACHED), == 0);
  int64_t flush = meldsim_submit(device, MELDSIM_FLUSH, nsid, 0, 0, 0, 0);
  CHECK(flush, > 0);
  CHECK(meldsim_wait(device, flush, UINT64_MAX), > 0);

  /* The same data in one batch of reads. */
  meldsim_command reads[4];
  memset(reads, 0, sizeof reads);
  for (uint32_t at = 0; at < 4; at++) {
    reads[at].size = sizeof reads[at];
    reads[at].opcode = MELDSIM_READ;
    reads[at].nsid = nsid;
    reads[at].slba = at * (blocks / 4);
    reads[at].nlb = blocks / 4;
  }
  int64_t batch = meldsim_submit_batch(device, reads, 4, 0);
  CHECK(batch, > 0);
  CHECK(meldsim_wait(device, batch, UINT64_MAX), >= 166000000);
  CHECK(meldsim_wait(device, batch, 0), == MELDSIM_ERR_TICKET);

  CHECK(counter(device, "read_commands"), == 4);
  CHECK(counter(device, "melded_reads"), == 64);

  hints(device, nsid, 2 * (uint64_t)blocks, blocks);
  windows(device);
  snapshot(device, nsid);
  timeline(device, nsid);

  /* Errors are values with texts. */
  CHECK(meldsim_submit(device, MELDSIM_READ, nsid + 1, 0, 1, 0, 0), == MELDSIM_ERR_NAMESPACE);
  CHECK(meldsim_submit(device, MELDSIM_READ, nsid, info.size_lbas, 1, 0, 0), == MELDSIM_ERR_RANGE);
  CHECK(meldsim_last_error(NULL, 0), > 1);
  CHECK(meldsim_open(MELDSIM_ABI_VERSION + 1, "melded-tlc-8x8", &device), == MELDSIM_ERR_ABI);

  CHECK(meldsim_close(device), == MELDSIM_OK);
  CHECK(meldsim_close(device), == MELDSIM_ERR_CLOSED);
  used();
  placement();
  zones();
  ring();
  run();
  policies();
  puts("ok");
  return 0;
}
