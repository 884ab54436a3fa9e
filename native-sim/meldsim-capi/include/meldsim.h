/* meldsim: a deterministic simulator of an SSD with melded pages. C ABI.
 *
 * Handles and tickets are integers; a wrong one is an error, never undefined behaviour. Statuses below 0 are errors,
 * whose text meldsim_last_error gives to the thread that got them. Everything ending in _ps is simulated picoseconds;
 * everything ending in _ns is wall nanoseconds. All functions may be called from any thread at any time.
 *
 * Every struct begins with its size: set it to sizeof before each call. Fields are only ever added at the end. A struct
 * that a function fills is filled as far as the caller knows it, with 0 in fields that the library does not know; one that
 * is given to it must have 0 there. Fields named reserved are 0.
 *
 * libmeldsim has a device. libmeldsim_study has that and whole workloads, calibration and reports: link one of the two.
 * Functions of the second alone say so.
 *
 * Generated from src/abi and meldsim-capi-study: UPDATE_HEADER=1 cargo test -p meldsim-capi header */

#ifndef MELDSIM_H
#define MELDSIM_H

#include <stdint.h>

/**
 * The version of this interface; give it to `meldsim_open`. It changes when a caller must be rebuilt.
 */
#define MELDSIM_ABI_VERSION 3

/**
 * Mode of `meldsim_set_mode`: simulated time moves as far as waits require.
 */
#define MELDSIM_ACCOUNT 0

/**
 * Mode of `meldsim_set_mode`: simulated time follows the wall clock, divided by the dilation.
 */
#define MELDSIM_REAL_TIME 1

/**
 * Write directive: no hint.
 */
#define MELDSIM_DIRECTIVE_NONE 0x00

/**
 * Write directive (`dtype << 16 | dspec`): will be read sequentially.
 */
#define MELDSIM_DIRECTIVE_SEQUENTIAL 0x000f0001

/**
 * Write directive (`dtype << 16 | dspec`): will be read at random.
 */
#define MELDSIM_DIRECTIVE_RANDOM 0x000f0002

/**
 * Write directive: add a stream's number, 1 to 16. Data of one stream is kept together, and apart from that of others.
 */
#define MELDSIM_DIRECTIVE_STREAM 0x00010000

/**
 * The most ranges of one call.
 */
#define MELDSIM_RANGES_MAX 256

/**
 * Context attributes of a range: it will be read sequentially, in commands of 64 logical blocks.
 */
#define MELDSIM_RANGE_SEQUENTIAL_READ 0x40000100

/**
 * A location: never written, or deallocated.
 */
#define MELDSIM_UNMAPPED 0

/**
 * A location: in the write buffer.
 */
#define MELDSIM_BUFFERED 1

/**
 * A location: on flash.
 */
#define MELDSIM_ON_FLASH 2

/**
 * A location: in XPoint memory.
 */
#define MELDSIM_IN_XPOINT 3

/**
 * Opcode of `meldsim_submit`: everything buffered goes to the flash.
 */
#define MELDSIM_FLUSH 0

/**
 * Opcode of `meldsim_submit`: write.
 */
#define MELDSIM_WRITE 1

/**
 * Opcode of `meldsim_submit`: read.
 */
#define MELDSIM_READ 2

/**
 * Opcode of `meldsim_submit`: the blocks hold nothing of value any more.
 */
#define MELDSIM_DEALLOCATE 9

/**
 * Flag of `meldsim_submit`: nobody will wait; failures show in the statistics only.
 */
#define MELDSIM_DETACHED 1

/**
 * Flag of `meldsim_submit`: in real-time mode, MELDSIM_ERR_TIMEOUT when there is no room, instead of blocking.
 */
#define MELDSIM_NO_WAIT 2

/**
 * Flag of `meldsim_submit`: the ticket's outcome goes to the completion queue, for `meldsim_reap`.
 */
#define MELDSIM_POSTED 4

/**
 * DSM field of a write: sequential, written seldom and read often; it will be read sequentially.
 */
#define MELDSIM_DSM_SEQUENTIAL_READS 0x43

/**
 * Priority of `meldsim_queue_create`: before all others, under weighted round robin.
 */
#define MELDSIM_PRIORITY_URGENT 0

/**
 * Priority of `meldsim_queue_create`.
 */
#define MELDSIM_PRIORITY_HIGH 1

/**
 * Priority of `meldsim_queue_create`, and of queue 0.
 */
#define MELDSIM_PRIORITY_MEDIUM 2

/**
 * Priority of `meldsim_queue_create`.
 */
#define MELDSIM_PRIORITY_LOW 3

/**
 * Words in front of the entries of a ring.
 */
#define MELDSIM_RING_HEADER_WORDS 160

/**
 * Opcode in a ring: data that has been there for long, as `meldsim_preload`.
 */
#define MELDSIM_RING_PRELOAD 256

/**
 * Opcode in a ring: in account mode, time moves until the ticket is done that the entry names.
 */
#define MELDSIM_RING_WAIT 257

/**
 * A window: predictable latency mode is not enabled.
 */
#define MELDSIM_WINDOW_DISABLED 0

/**
 * A window: deterministic (DTWIN), in which the set collects no garbage.
 */
#define MELDSIM_WINDOW_DETERMINISTIC 1

/**
 * A window: not deterministic (NDWIN), in which the set catches up and earns the next deterministic one.
 */
#define MELDSIM_WINDOW_NON_DETERMINISTIC 2

/**
 * Write directive: add a placement identifier, from 0. For a device whose profile has reclaim unit handles, in place of
 * streams.
 */
#define MELDSIM_DIRECTIVE_PLACEMENT 0x00020000

/**
 * Opcode of `meldsim_submit`: Zone Management Send. `slba` is the first logical block of a zone, and `nlb` what is done to it,
 * such as MELDSIM_ZONE_OPEN.
 */
#define MELDSIM_ZONE_MANAGE 0x79

/**
 * Opcode of `meldsim_submit`: a write at the write pointer of the zone whose first logical block is `slba`.
 * `meldsim_wait_result` says where it went.
 */
#define MELDSIM_ZONE_APPEND 0x7d

/**
 * Zone Send Action: the zone is closed.
 */
#define MELDSIM_ZONE_CLOSE 0x01

/**
 * Zone Send Action: the zone becomes full; what is not written is padded.
 */
#define MELDSIM_ZONE_FINISH 0x02

/**
 * Zone Send Action: the zone is opened explicitly.
 */
#define MELDSIM_ZONE_OPEN 0x03

/**
 * Zone Send Action: what the zone holds is gone.
 */
#define MELDSIM_ZONE_RESET 0x04

/**
 * Zone Send Action: a zone that is read only goes out of service; there is none.
 */
#define MELDSIM_ZONE_OFFLINE 0x05

/**
 * Add it to a Zone Send Action: all zones that may be closed, finished or reset, or all closed ones to open; `slba` does not
 * matter.
 */
#define MELDSIM_ZONE_SELECT_ALL 0x00000100

/**
 * The most bytes that `meldsim_timeline_start` keeps.
 */
#define MELDSIM_TIMELINE_BYTES_MAX (1 << 30)

/**
 * A frontier from this number on is of garbage collection's, those below of the host's.
 */
#define MELDSIM_FRONTIER_COLLECTION 256

/**
 * Flag of meldsim_victims: `rank` is also asked while there is a superblock without valid pages.
 */
#define MELDSIM_VICTIMS_RANK_EMPTY 1

/**
 * The call succeeded.
 */
#define MELDSIM_OK 0

/**
 * An argument is null, malformed or out of its documented range.
 */
#define MELDSIM_ERR_ARGUMENT -1

/**
 * The profile cannot be found, read, parsed, or describes an impossible device.
 */
#define MELDSIM_ERR_PROFILE -2

/**
 * No such namespace on this device.
 */
#define MELDSIM_ERR_NAMESPACE -3

/**
 * The range of logical blocks is empty or leaves the namespace.
 */
#define MELDSIM_ERR_RANGE -4

/**
 * The device is physically full, or a bounded table of the library is.
 */
#define MELDSIM_ERR_CAPACITY -5

/**
 * The device does not know this opcode or directive.
 */
#define MELDSIM_ERR_UNSUPPORTED -6

/**
 * The time allowed for a wait has passed; the ticket stays valid.
 */
#define MELDSIM_ERR_TIMEOUT -7

/**
 * The handle has been closed.
 */
#define MELDSIM_ERR_CLOSED -8

/**
 * The simulator failed inside; the device is out of service, others are not.
 */
#define MELDSIM_ERR_PANIC -9

/**
 * The caller was built against another version of this interface.
 */
#define MELDSIM_ERR_ABI -10

/**
 * The ticket was never given out, or was already waited for or forgotten.
 */
#define MELDSIM_ERR_TICKET -11

/**
 * The bytes are no snapshot, one of another version, damaged, or of a device that cannot be.
 */
#define MELDSIM_ERR_SNAPSHOT -13

/**
 * The device's simulated time is used up, after 106 days: close it and open a new one.
 */
#define MELDSIM_ERR_CLOCK -14

/**
 * A zone is not as the command needs it; `meldsim_last_status` says what is wrong.
 */
#define MELDSIM_ERR_ZONE -15

/**
 * A registered policy failed, or answered what it must not; the device is out of service, others are not.
 */
#define MELDSIM_ERR_POLICY -16

/**
 * The most commands on one device, and so the most in one batch. Submitting more runs the engine (account mode) or
 * blocks (real-time mode) until there is room.
 */
#define MELDSIM_MAX_OUTSTANDING 1024

/**
 * A namespace, of `meldsim_namespace_info`.
 */
typedef struct meldsim_namespace {
  /**
   * sizeof(meldsim_namespace), set by the caller.
   */
  uint32_t size;
  /**
   * The NVM set it is in.
   */
  uint32_t set;
  /**
   * Bytes of a logical block.
   */
  uint64_t lba_bytes;
  /**
   * Its size in logical blocks. It is thin: the device may hold less.
   */
  uint64_t size_lbas;
  /**
   * Bytes of a flash page: the smallest write that costs no more than itself.
   */
  uint64_t page_bytes;
  /**
   * Bytes of a wordline: the preferred unit of melded reads.
   */
  uint64_t wordline_bytes;
  /**
   * Bytes that the whole device can hold.
   */
  uint64_t capacity_bytes;
  /**
   * Logical blocks that hold data.
   */
  uint64_t allocated_lbas;
} meldsim_namespace;

/**
 * Flash pages of a range, of `meldsim_layout`.
 */
typedef struct meldsim_page_counts {
  /**
   * sizeof(meldsim_page_counts), set by the caller.
   */
  uint32_t size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Pages that hold data.
   */
  uint64_t mapped;
  /**
   * Of those, the ones in the write buffer, which have no layout yet.
   */
  uint64_t buffered;
  /**
   * Of those that hold data, the ones melded: they share a wordline with what follows them.
   */
  uint64_t melded;
} meldsim_page_counts;

/**
 * Where a logical block is, of `meldsim_locate`. What a location does not have is 0.
 */
typedef struct meldsim_location {
  /**
   * sizeof(meldsim_location), set by the caller.
   */
  uint32_t size;
  /**
   * MELDSIM_UNMAPPED, MELDSIM_BUFFERED, MELDSIM_ON_FLASH or MELDSIM_IN_XPOINT.
   */
  uint32_t kind;
  /**
   * On flash, the channel. This and all that follows count from 0.
   */
  uint32_t channel;
  /**
   * On flash, the die of the channel; in XPoint memory, the die of the device.
   */
  uint32_t die;
  /**
   * On flash, the plane of the die.
   */
  uint32_t plane;
  /**
   * On flash, the wordline of the block.
   */
  uint32_t wordline;
  /**
   * On flash, the page of the wordline.
   */
  uint32_t page;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * On flash, the block of the plane; in XPoint memory, the chunk of the device.
   */
  uint64_t block;
} meldsim_location;

/**
 * A range of logical blocks, of `meldsim_describe` and `meldsim_deallocate`.
 */
typedef struct meldsim_range {
  /**
   * sizeof(meldsim_range).
   */
  uint32_t size;
  /**
   * Context attributes as in NVMe's Range Definition, such as MELDSIM_RANGE_SEQUENTIAL_READ; 0 for none. Of no
   * meaning to a deallocation.
   */
  uint32_t attributes;
  /**
   * Number of logical blocks.
   */
  uint32_t nlb;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * First logical block.
   */
  uint64_t slba;
} meldsim_range;

/**
 * One command of `meldsim_submit_batch`; fields as the arguments of `meldsim_submit`.
 */
typedef struct meldsim_command {
  /**
   * sizeof(meldsim_command).
   */
  uint32_t size;
  /**
   * MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ, MELDSIM_DEALLOCATE, MELDSIM_ZONE_MANAGE or MELDSIM_ZONE_APPEND.
   */
  uint32_t opcode;
  /**
   * Namespace, from `meldsim_namespace_create`.
   */
  uint32_t nsid;
  /**
   * Number of logical blocks; of MELDSIM_ZONE_MANAGE, the Zone Send Action.
   */
  uint32_t nlb;
  /**
   * First logical block.
   */
  uint64_t slba;
  /**
   * `dtype << 16 | dspec`; writes only.
   */
  uint32_t directive;
  /**
   * The DSM field of a read or a write (CDW13 7:0), such as MELDSIM_DSM_SEQUENTIAL_READS; 0 for no hint.
   */
  uint32_t dsm;
  /**
   * The submission queue, 0 or one of `meldsim_queue_create`.
   */
  uint32_t queue;
  /**
   * 0.
   */
  uint32_t reserved;
} meldsim_command;

/**
 * How submission queues share the controller, of `meldsim_arbitration` and for `meldsim_set_arbitration`.
 */
typedef struct meldsim_queue_shares {
  /**
   * sizeof(meldsim_queue_shares).
   */
  uint32_t size;
  /**
   * Arbitration burst: commands fetched from a queue before the next one of its priority; 0 for no limit.
   */
  uint32_t burst;
  /**
   * Weight of high priority.
   */
  uint32_t high;
  /**
   * Weight of medium priority.
   */
  uint32_t medium;
  /**
   * Weight of low priority.
   */
  uint32_t low;
} meldsim_queue_shares;

/**
 * An NVM set, of `meldsim_set_info`. What it did, it did since the device was opened.
 */
typedef struct meldsim_nvm_set {
  /**
   * sizeof(meldsim_nvm_set), set by the caller.
   */
  uint32_t size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Pages that can hold data at one time.
   */
  uint64_t capacity_pages;
  /**
   * Pages that hold data.
   */
  uint64_t mapped_pages;
  /**
   * Erased blocks.
   */
  uint64_t free_blocks;
  /**
   * Pages programmed for the host.
   */
  uint64_t host_pages_programmed;
  /**
   * Pages moved by garbage collection.
   */
  uint64_t gc_pages_moved;
  /**
   * Blocks erased.
   */
  uint64_t erases;
  /**
   * Reads begun.
   */
  uint64_t read_commands;
  /**
   * Bytes of them.
   */
  uint64_t read_bytes;
  /**
   * Writes begun.
   */
  uint64_t write_commands;
  /**
   * Bytes of them.
   */
  uint64_t written_bytes;
  /**
   * Bytes programmed in all.
   */
  uint64_t programmed_bytes;
  /**
   * Its optimal write: bytes of a wordline.
   */
  uint64_t optimal_write_bytes;
  /**
   * What a read of one page takes on an idle device, in simulated picoseconds.
   */
  uint64_t random_read_ps;
} meldsim_nvm_set;

/**
 * What is to be reported of predictable latency mode, for `meldsim_window_configure`.
 */
typedef struct meldsim_window_config {
  /**
   * sizeof(meldsim_window_config).
   */
  uint32_t size;
  /**
   * 1 enables the mode, 0 disables it.
   */
  uint32_t enable;
  /**
   * A sum of the events to be reported; bits as in `meldsim_window`.
   */
  uint32_t events;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Warn when fewer reads are left.
   */
  uint64_t reads_threshold;
  /**
   * Warn when fewer writes are left.
   */
  uint64_t writes_threshold;
  /**
   * Warn when fewer milliseconds are left.
   */
  uint64_t time_threshold_ms;
} meldsim_window_config;

/**
 * Predictable latency mode of an NVM set, of `meldsim_window_info`: its log page, and what it was configured to.
 */
typedef struct meldsim_window {
  /**
   * sizeof(meldsim_window), set by the caller.
   */
  uint32_t size;
  /**
   * MELDSIM_WINDOW_DISABLED, MELDSIM_WINDOW_DETERMINISTIC or MELDSIM_WINDOW_NON_DETERMINISTIC.
   */
  uint32_t window;
  /**
   * What has happened and was not cleared; bits as in the log page (0 to 2 warnings, 14 budget exceeded, 15 excursion).
   */
  uint32_t events;
  /**
   * The events that are reported.
   */
  uint32_t events_enabled;
  /**
   * Reads of 4 KiB in a whole deterministic window.
   */
  uint64_t dtwin_reads;
  /**
   * Optimal writes in a whole deterministic window.
   */
  uint64_t dtwin_writes;
  /**
   * Milliseconds of a whole deterministic window.
   */
  uint64_t dtwin_time_ms;
  /**
   * Milliseconds outside that earn a whole one.
   */
  uint64_t ndwin_time_high_ms;
  /**
   * Milliseconds outside that earn any.
   */
  uint64_t ndwin_time_low_ms;
  /**
   * Reads left in this window, or in the next one.
   */
  uint64_t reads_left;
  /**
   * Writes left.
   */
  uint64_t writes_left;
  /**
   * Milliseconds left.
   */
  uint64_t time_left_ms;
  /**
   * A warning is reported when fewer reads are left.
   */
  uint64_t reads_threshold;
  /**
   * A warning is reported when fewer writes are left.
   */
  uint64_t writes_threshold;
  /**
   * A warning is reported when fewer milliseconds are left.
   */
  uint64_t time_threshold_ms;
} meldsim_window;

/**
 * Flexible data placement of an NVM set, of `meldsim_fdp_info`: its configuration, the FDP Statistics log page, and how many
 * events there were. What it did, it did since the device was opened.
 */
typedef struct meldsim_fdp {
  /**
   * sizeof(meldsim_fdp), set by the caller.
   */
  uint32_t size;
  /**
   * Reclaim unit handles.
   */
  uint32_t handles;
  /**
   * Bytes of a reclaim unit.
   */
  uint64_t reclaim_unit_bytes;
  /**
   * Host Bytes with Metadata Written.
   */
  uint64_t host_bytes_written;
  /**
   * Media Bytes with Metadata Written.
   */
  uint64_t media_bytes_written;
  /**
   * Media Bytes Erased.
   */
  uint64_t media_bytes_erased;
  /**
   * Events 00h: a reclaim unit was left before it was full.
   */
  uint64_t not_fully_written;
  /**
   * Events 03h: a write named a placement identifier that does not exist.
   */
  uint64_t invalid_placement_identifiers;
  /**
   * Events 80h: data of a reclaim unit was moved.
   */
  uint64_t media_reallocated;
} meldsim_fdp;

/**
 * Zones of a namespace, of `meldsim_zones_info`. What was done to them, was done since the device was opened.
 */
typedef struct meldsim_zones {
  /**
   * sizeof(meldsim_zones), set by the caller.
   */
  uint32_t size;
  /**
   * Zones.
   */
  uint32_t zones;
  /**
   * Maximum Active Resources: zones that are open or closed.
   */
  uint32_t max_active;
  /**
   * Maximum Open Resources.
   */
  uint32_t max_open;
  /**
   * Zone Size: logical blocks from the start of a zone to that of the next.
   */
  uint64_t zone_lbas;
  /**
   * Zone Capacity: logical blocks of a zone that can be written.
   */
  uint64_t capacity_lbas;
  /**
   * Appends.
   */
  uint64_t appends;
  /**
   * Zones that were reset and were not empty.
   */
  uint64_t resets;
  /**
   * Zones that were finished and were not full.
   */
  uint64_t finishes;
  /**
   * Zones that were closed because another was opened.
   */
  uint64_t implicit_closes;
} meldsim_zones;

/**
 * A superblock that can be collected: closed, programmed, and with pages that are out of date.
 */
typedef struct meldsim_candidate {
  /**
   * sizeof(meldsim_candidate), as the library was compiled with it: from one of a list to the next.
   */
  uint32_t size;
  /**
   * Its number in its log.
   */
  uint32_t number;
  /**
   * When it was closed: pages that its log had been given by then.
   */
  uint64_t closed_at;
  /**
   * Pages whose data is current.
   */
  uint32_t valid;
  /**
   * How often it has been erased.
   */
  uint32_t erases;
  /**
   * The frontier that filled it; see MELDSIM_FRONTIER_COLLECTION.
   */
  uint32_t written_at;
  /**
   * 0.
   */
  uint32_t reserved;
} meldsim_candidate;

/**
 * A victim policy: which superblock is collected next (`gc.victim`). Each function but `make` gets what that gave, and returns 0,
 * or a number below 0 to end the run with an error that names the policy. Null where nothing is to be done; `make`, `drop` and
 * `rank` are never null. A policy is used by one thread at a time, not always the same.
 */
typedef struct meldsim_victims {
  /**
   * sizeof(meldsim_victims).
   */
  uint32_t size;
  /**
   * MELDSIM_VICTIMS_RANK_EMPTY, or 0.
   */
  uint32_t flags;
  /**
   * For `make`.
   */
  void *context;
  /**
   * Makes a policy for a log of so many superblocks of so many pages. Null when `options`, the profile's `[policy.NAME]` as a JSON
   * object, are wrong.
   */
  void *(*make)(void *context, const char *options, uint32_t superblocks, uint32_t pages_per_superblock);
  /**
   * Frees one.
   */
  void (*drop)(void *policy);
  /**
   * Writes the numbers of up to `most` of the `n` candidates to `ranked`, the first to be collected first, and returns how many.
   * `now`: pages that the log has been given. What it answers follows from what it is given, and from what it was told.
   */
  int32_t (*rank)(void *policy,
                  uint64_t now,
                  const struct meldsim_candidate *candidates,
                  uint32_t n,
                  uint32_t most,
                  uint32_t *ranked);
  /**
   * A superblock has been closed.
   */
  int32_t (*closed)(void *policy, const struct meldsim_candidate *at);
  /**
   * So many pages of a superblock have gone out of date. It may be open.
   */
  int32_t (*invalidated)(void *policy, const struct meldsim_candidate *at, uint32_t pages);
  /**
   * A superblock has been erased.
   */
  int32_t (*erased)(void *policy, uint32_t number);
} meldsim_victims;

/**
 * A placement policy: with which data a page goes (`ftl.placement`). As meldsim_victims; `make`, `drop` and `of_write` are never
 * null.
 */
typedef struct meldsim_placement {
  /**
   * sizeof(meldsim_placement).
   */
  uint32_t size;
  /**
   * Frontiers of collection's, 1 to 8.
   */
  uint32_t moved;
  /**
   * For `make`.
   */
  void *context;
  /**
   * Makes a policy for a log of so many superblocks of so many pages. Null when `options`, the profile's `[policy.NAME]` as a JSON
   * object, are wrong.
   */
  void *(*make)(void *context, const char *options, uint32_t superblocks, uint32_t pages_per_superblock);
  /**
   * Frees one.
   */
  void (*drop)(void *policy);
  /**
   * The frontier of the host's, 0 to 16, to which a page goes that is written in a stream, 0 for none. `space`: its namespace,
   * from 0 in its NVM set.
   */
  int32_t (*of_write)(void *policy, uint32_t space, uint64_t page, uint32_t stream);
  /**
   * The frontier of collection's, below `moved`, to which a page goes that was written at a frontier. Null: 0.
   */
  int32_t (*of_move)(void *policy, uint32_t space, uint64_t page, uint32_t from);
  /**
   * A superblock has been opened at a frontier.
   */
  int32_t (*opened)(void *policy, uint32_t superblock, uint32_t at);
  /**
   * A superblock, written at a frontier, is collected from now on.
   */
  int32_t (*collected)(void *policy, uint32_t superblock, uint32_t at);
} meldsim_placement;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Version of the interface this library was built with. Thread-safe; cannot fail.
 */
uint32_t meldsim_abi_version(void);

/**
 * Copies the text of the calling thread's last failure into `buf`, NUL-terminated and cut to `len` bytes.
 *
 * Returns the bytes that the whole text needs, its NUL included: 1 when nothing has failed on this thread. A null `buf`
 * with `len` 0 asks for the size only. The caller owns `buf`. Thread-safe: each thread has its own last error, and a
 * call that succeeds leaves it alone.
 *
 * # Safety
 * `buf` is null, or points to `len` writable bytes.
 */
int32_t meldsim_last_error(char *buf, uint64_t len);

/**
 * The status with which an NVMe controller completes the command of this thread's last failure: the status code type from bit 8
 * up, the status code below, as the Base specification and those of the command sets number them. 0 when the failure was not of a
 * command.
 */
int32_t meldsim_last_status(void);

/**
 * Opens a device in account mode and stores its handle, always positive, in `*handle`.
 *
 * `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `profile` is the name of a built-in profile or
 * the path of a TOML file; it is read before the call returns. Close the handle with `meldsim_close`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, not UTF-8), MELDSIM_ERR_PROFILE (unknown name, unreadable file,
 * unknown key, impossible device), MELDSIM_ERR_CAPACITY (too many devices open). `*handle` is set on success only.
 *
 * # Safety
 * `profile` is null or a NUL-terminated string; `handle` is null or writable.
 */
int32_t meldsim_open(uint32_t abi_version, const char *profile, int64_t *handle);

/**
 * Closes a device and frees it. Commands on it are abandoned; threads that wait return MELDSIM_ERR_CLOSED, as does any
 * later use of the handle, closing it again included. Thread-safe, also against calls in flight on other threads.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (never a handle), MELDSIM_ERR_CLOSED.
 */
int32_t meldsim_close(int64_t handle);

/**
 * Chooses who moves simulated time: MELDSIM_ACCOUNT or MELDSIM_REAL_TIME, in which one simulated second takes
 * `time_dilation` wall seconds (0.001 to 1000000; ignored in account mode).
 *
 * A switch between the modes first completes everything outstanding, at once. A new dilation in real-time mode goes on
 * from the present simulated time, with commands outstanding. Thread-safe; waiting threads go on by the new rules.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (mode or dilation), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_set_mode(int64_t handle, uint32_t mode, double time_dilation);

/**
 * In account mode lets `duration_ps` of simulated time pass, as on a host that does something else: commands on the device
 * go on, and so does what it does by itself. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (real-time mode), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC (beyond the 106 days that a device
 * lives).
 */
int32_t meldsim_advance(int64_t handle,
                        uint64_t duration_ps);

/**
 * Copies the device's profile as TOML, with every key, into `buf`; else as `meldsim_last_error`.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `buf` is null, or points to `len` writable bytes.
 */
int32_t meldsim_profile(int64_t handle, char *buf, uint64_t len);

/**
 * Bytes of memory that the device's translation layers take: mapping, blocks, buffers. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int64_t meldsim_memory_bytes(int64_t handle);

/**
 * Copies what would survive if the power were cut now into `out`, when its `n` bytes are enough: all data whose write has
 * been acknowledged, the wear of the blocks, the namespaces, and the profile. Commands on the device are not in it, and
 * neither are counters, what was said of ranges and streams, or predictable latency mode. The device goes on unchanged.
 *
 * Returns the bytes that the snapshot needs; a null `out` with `n` 0 asks for that only. The state may change between two
 * calls: compare what the second one returns with `n`. The same state gives the same bytes. The caller owns `out`.
 * Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null), MELDSIM_ERR_SNAPSHOT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable bytes.
 */
int64_t meldsim_snapshot(int64_t handle,
                         uint8_t *out,
                         uint64_t n);

/**
 * Opens a device in account mode in the state of a snapshot, as after the power has come back: its time and its counters
 * begin anew, its namespaces keep their ids. The snapshot brings the profile with it. Else as `meldsim_open`.
 *
 * `snapshot` is `n` bytes of `meldsim_snapshot`, from this or another process; it is read before the call returns. What is
 * not a snapshot is refused and changes nothing. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null), MELDSIM_ERR_SNAPSHOT (another version, damaged, contradictory),
 * MELDSIM_ERR_CAPACITY (too many devices open). `*handle` is set on success only.
 *
 * # Safety
 * `snapshot` is null or points to `n` bytes; `handle` is null or writable.
 */
int32_t meldsim_restore(uint32_t abi_version,
                        const uint8_t *snapshot,
                        uint64_t n,
                        int64_t *handle);

/**
 * Puts the device into the state of one that has been used for long: every namespace filled to `fill_percent` (1 to 100)
 * from its start, of which the first `random_percent` (0 to 100) was overwritten at random until garbage collection came
 * to its steady state. What the namespaces held before is gone.
 *
 * First completes everything outstanding, at once. The state itself is computed, in no simulated time. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (a share), MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_precondition(int64_t handle,
                             uint32_t fill_percent,
                             uint32_t random_percent);

/**
 * As `meldsim_precondition`, of a past as `meldsim run --precondition` has it: `fill=100,random=75,skew=zipf:0.9`. What is
 * left out is 100, and no skew. With one, the random writes touched some pages of every namespace more often than others.
 *
 * A skew has no computed state: the pages are overwritten 4 to 16 times, in no simulated time, but a fraction of a
 * microsecond for each. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, an unknown or impossible word), else as `meldsim_precondition`.
 *
 * # Safety
 * `past` is null or a NUL-terminated string.
 */
int32_t meldsim_precondition_by(int64_t handle,
                                const char *past);

/**
 * Creates a namespace of `size_bytes`, a multiple of the logical block size, and stores its id in `*nsid`.
 *
 * Namespaces are thin: their sizes may add up to more than the device holds. They live as long as the device, and go to
 * its NVM sets in turn, the first to set 0. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC. `*nsid` is set on success only.
 *
 * # Safety
 * `nsid` is null or writable.
 */
int32_t meldsim_namespace_create(int64_t handle, uint64_t size_bytes, uint32_t *nsid);

/**
 * Creates a namespace in the NVM set `set`, which counts from 0; else as `meldsim_namespace_create`.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, set, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC. `*nsid` is set on success only.
 *
 * # Safety
 * `nsid` is null or writable.
 */
int32_t meldsim_namespace_create_in(int64_t handle,
                                    uint32_t set,
                                    uint64_t size_bytes,
                                    uint32_t *nsid);

/**
 * The number of namespaces of the device; their ids count from 1. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_namespaces(int64_t handle);

/**
 * Fills `*out` with what a namespace is. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_namespace_info(int64_t handle, uint32_t nsid, struct meldsim_namespace *out);

/**
 * Fills `*out` with how many of the flash pages that the range lies in hold data, and how. Takes wall time in proportion
 * to the range, about 10 ns a page, in which the device serves nobody else. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_layout(int64_t handle,
                       uint32_t nsid,
                       uint64_t slba,
                       uint64_t nlb,
                       struct meldsim_page_counts *out);

/**
 * Fills `*out` with where a logical block is. In real-time mode that is as of now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_locate(int64_t handle, uint32_t nsid, uint64_t lba, struct meldsim_location *out);

/**
 * Places data as if it had been written long ago with `directive`; takes no simulated time. Thread-safe.
 *
 * Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_UNSUPPORTED (directive),
 * MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_preload(int64_t handle, uint32_t nsid, uint64_t slba, uint64_t nlb, uint32_t directive);

/**
 * Says how the data of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace will be read, for the writes to them that follow:
 * as Dataset Management with the integral dataset for read attribute. A range with sequential read and a command access
 * size will be read sequentially; any other withdraws that, and so does a deallocation. A namespace remembers 4096 ranges.
 * The caller owns `ranges`, which is copied. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, `n`, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC. The ranges before the one that is refused are described.
 *
 * # Safety
 * `ranges` is null, or points to `n` ranges whose sizes are set.
 */
int32_t meldsim_describe(int64_t handle,
                         uint32_t nsid,
                         const struct meldsim_range *ranges,
                         uint32_t n);

/**
 * Says how the data of a stream will be read, where its writes do not say it themselves: `directive` is
 * MELDSIM_DIRECTIVE_SEQUENTIAL or MELDSIM_DIRECTIVE_RANDOM, or MELDSIM_DIRECTIVE_NONE to withdraw it. `stream` is 1 to 16,
 * of this namespace. For writes submitted from now on. Thread-safe.
 *
 * Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream, directive), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_stream_bind(int64_t handle,
                            uint32_t nsid,
                            uint32_t stream,
                            uint32_t directive);

/**
 * Releases a stream, when nothing will be written to it any more: what it still gathers is programmed, with padding, and its
 * blocks are closed, so that another stream may have blocks. A later write opens it again; it stays bound. Thread-safe.
 *
 * Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_stream_release(int64_t handle,
                               uint32_t nsid,
                               uint32_t stream);

/**
 * Fills `out` with what the first `n` streams of a namespace are bound to, from stream 0, which is none: 0 nothing, 1
 * sequential, 2 random.
 *
 * Returns how many there are. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_streams_bound(int64_t handle, uint32_t nsid, uint64_t *out, uint32_t n);

/**
 * Submits one command; it reaches the device now, in simulated time.
 *
 * `opcode` is MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ, MELDSIM_DEALLOCATE, or of a zoned namespace also MELDSIM_ZONE_MANAGE
 * or MELDSIM_ZONE_APPEND; `slba` and `nlb` count logical blocks (0 and 0 for a flush); `directive` is `dtype << 16 | dspec` on a write, 0 for none; `flags` is 0 or a sum of
 * MELDSIM_DETACHED or MELDSIM_POSTED, and MELDSIM_NO_WAIT. A DSM field and a queue need `meldsim_submit_batch`.
 *
 * Returns a ticket above 0, to be given to `meldsim_wait` or `meldsim_forget` once (with MELDSIM_POSTED, `meldsim_reap`
 * gives it back instead of a wait); 0 when detached; or an error. When
 * MELDSIM_MAX_OUTSTANDING commands are on the device, the engine runs (account mode) or the call blocks (real-time mode)
 * until there is room. With MELDSIM_NO_WAIT it never blocks: nothing is submitted and MELDSIM_ERR_TIMEOUT returned.
 * Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (flags), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED (opcode,
 * directive), MELDSIM_ERR_CAPACITY (tickets), MELDSIM_ERR_TIMEOUT (no room), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int64_t meldsim_submit(int64_t handle,
                       uint32_t opcode,
                       uint32_t nsid,
                       uint64_t slba,
                       uint32_t nlb,
                       uint32_t directive,
                       uint32_t flags);

/**
 * Submits `n` commands (1 to MELDSIM_MAX_OUTSTANDING) that reach the device in order at one instant, under one ticket.
 *
 * Waiting gives the latency of the slowest. When the device refuses a command, the commands before it have been
 * submitted, detached; those after it have not. Else as `meldsim_submit`. The caller owns `cmds`, which is copied.
 *
 * # Safety
 * `cmds` is null, or points to `n` commands whose sizes are set.
 */
int64_t meldsim_submit_batch(int64_t handle, const struct meldsim_command *cmds, uint32_t n, uint32_t flags);

/**
 * Submits the deallocation of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace as one command, to submission queue
 * `queue`; all of them or, on an error, none. Else as `meldsim_submit`.
 *
 * # Safety
 * `ranges` is null, or points to `n` ranges whose sizes are set.
 */
int64_t meldsim_deallocate(int64_t handle,
                           uint32_t nsid,
                           const struct meldsim_range *ranges,
                           uint32_t n,
                           uint32_t queue,
                           uint32_t flags);

/**
 * Waits for a ticket: the simulated latency of its slowest command in picoseconds, or an error.
 *
 * `timeout_ns` is wall time; UINT64_MAX waits without limit. In account mode a wait runs the engine on the calling thread
 * and at least a little even when `timeout_ns` is 0. After MELDSIM_ERR_TIMEOUT the ticket stays valid; after anything
 * else it is used up. Thread-safe; of several threads that wait for one ticket, one gets the latency.
 *
 * Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_TIMEOUT, MELDSIM_ERR_CAPACITY (a write found the device full), MELDSIM_ERR_ZONE (the
 * state of a zone), MELDSIM_ERR_ARGUMENT (not the first logical block of a zone), MELDSIM_ERR_UNSUPPORTED (of a zoned
 * namespace), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int64_t meldsim_wait(int64_t handle,
                     int64_t ticket,
                     uint64_t timeout_ns);

/**
 * As `meldsim_wait`; `*result` becomes what the command returns, dwords 0 and 1 of its completion: of MELDSIM_ZONE_APPEND the
 * first logical block that it wrote, of others 0. Of several commands under one ticket it is the largest.
 *
 * Errors: those of `meldsim_wait`, MELDSIM_ERR_ARGUMENT (null). `*result` is set on success only.
 *
 * # Safety
 * `result` is null or writable.
 */
int64_t meldsim_wait_result(int64_t handle,
                            int64_t ticket,
                            uint64_t timeout_ns,
                            uint64_t *result);

/**
 * Takes outcomes from the completion queue, oldest first, `n` (1 to MELDSIM_MAX_OUTSTANDING) of them at most, and returns
 * how many. Never blocks; moves no time in account mode.
 *
 * Each is two values in `out`: the ticket, of a submission with MELDSIM_POSTED, and what `meldsim_wait` would return for
 * it. In real-time mode `*due_ns` is the wall time until more may follow; else, or when nothing is scheduled, it is
 * UINT64_MAX. A command that is submitted meanwhile may be done before that. `meldsim_last_error` has the text of the last
 * that failed. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, `n`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` points to `2 * n` writable values, `due_ns` to one, or they are null.
 */
int32_t meldsim_reap(int64_t handle,
                     int64_t *out,
                     uint32_t n,
                     uint64_t *due_ns);

/**
 * Gives a ticket up without waiting; its commands run on as if detached. Thread-safe.
 *
 * Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_forget(int64_t handle, int64_t ticket);

/**
 * Adds a submission queue that holds `depth` commands at most, and stores its number in `*queue`. Queues matter where the
 * profile's `[host]` limits what the controller works on; queue 0 is always there, without a limit. They live as long as
 * the device. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, depth 0, priority), MELDSIM_ERR_CAPACITY (65536 queues), MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC. `*queue` is set on success only.
 *
 * # Safety
 * `queue` is null or writable.
 */
int32_t meldsim_queue_create(int64_t handle,
                             uint32_t depth,
                             uint32_t priority,
                             uint32_t *queue);

/**
 * Commands that wait in a submission queue to be fetched; none in one that does not exist. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_queued(int64_t handle, uint32_t queue);

/**
 * Changes the arbitration burst and the weights of the priorities below urgent, as NVMe's Feature 01h does. A weight of 0
 * counts as 1. `shares` is copied. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `shares` is null, or points to a struct whose size is set.
 */
int32_t meldsim_set_arbitration(int64_t handle,
                                const struct meldsim_queue_shares *shares);

/**
 * Fills `*out` with the arbitration burst and the weights. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_arbitration(int64_t handle, struct meldsim_queue_shares *out);

/**
 * Gives a device a ring: memory in which the caller's threads put commands and find what has become of them, without a
 * call. One thread makes the calls, `meldsim_ring_run`. A device has one ring; a second one takes its place, once all commands
 * of the first are done.
 *
 * `ring` points to MELDSIM_RING_HEADER_WORDS + 8 * (`entries` + `slots`) words of 64 bits, which begin a line of the cache
 * best, and are set here. Both numbers are powers of two up to 2^20; there are as many slots as entries or more. The page
 * of the interface says what each word is.
 * The memory must stay until `meldsim_close` has returned, and no other thread is in a call on the device.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, not aligned, numbers, commands of the first), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `ring` is null, or points to as many writable words, which only atomic operations touch from here on.
 */
int32_t meldsim_ring_attach(int64_t handle,
                            uint64_t *ring,
                            uint32_t entries,
                            uint32_t slots);

/**
 * Does what there is to do for the device's ring: takes all entries, moves time (in real-time mode, to the wall clock), and
 * writes what is done. Then it looks at the ring for `spin_ns` after something has happened, and while something is due
 * within that time; not in account mode. `now_ns` is the present time of a clock of the caller's. It returns after `max_ns` at the latest, but for the entries that it is at.
 *
 * Returns wall nanoseconds until there is more to do: 0 for a call at once, INT64_MAX when nothing is scheduled. It returns
 * at once when it has posted something; a failed command is the last that a call posts, and `meldsim_last_error` has its
 * text. By one thread at a time.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (no ring), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC. The entry at the head is then what failed.
 */
int64_t meldsim_ring_run(int64_t handle,
                         uint64_t now_ns,
                         uint64_t spin_ns,
                         uint64_t max_ns);

/**
 * The number of NVM sets of the device, as its profile has it; they are numbered from 0. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_sets(int64_t handle);

/**
 * Fills `*out` with what an NVM set holds and has done. In real-time mode that is as of now. The caller owns `out`.
 * Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size, set), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_set_info(int64_t handle, uint32_t set, struct meldsim_nvm_set *out);

/**
 * Enables or disables predictable latency mode for an NVM set, as NVMe's Feature 13h does, and says what is to be reported.
 * The mode begins in the non-deterministic window, with a deterministic one earned. `config` is copied. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, set, a field of `config`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `config` is null, or points to a struct whose size is set.
 */
int32_t meldsim_window_configure(int64_t handle,
                                 uint32_t set,
                                 const struct meldsim_window_config *config);

/**
 * Moves an NVM set to MELDSIM_WINDOW_DETERMINISTIC or MELDSIM_WINDOW_NON_DETERMINISTIC, as NVMe's Feature 14h does. The
 * deterministic window ends by itself when its budget of reads, writes or time is used up, or when writes leave the set no
 * choice but to collect. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (set, window, mode not enabled, window not earned), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_window_enter(int64_t handle,
                             uint32_t set,
                             uint32_t window);

/**
 * Fills `*out` with the Predictable Latency log page of an NVM set and its configuration. Events are cleared unless `retain`
 * is 1. In real-time mode the values are as of now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size, set, `retain`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_window_info(int64_t handle,
                            uint32_t set,
                            uint32_t retain,
                            struct meldsim_window *out);

/**
 * Fills `*out` with flexible data placement of an NVM set. In real-time mode that is as of now. The caller owns `out`.
 * Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size, set), MELDSIM_ERR_UNSUPPORTED (no handles), MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_fdp_info(int64_t handle, uint32_t set, struct meldsim_fdp *out);

/**
 * Fills `out` with the first `n` values of the FDP Events log page of an NVM set: the host's events with `host` 1, the
 * controller's with 0. Each event is five values: its type, its simulated time in picoseconds, its placement identifier or
 * 65536 for none, its namespace or 0, and its logical pages. The oldest comes first; of many the last 63 are kept.
 *
 * Returns how many values there are. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (`host`, set), MELDSIM_ERR_UNSUPPORTED (no handles), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_fdp_events(int64_t handle,
                           uint32_t set,
                           uint32_t host,
                           uint64_t *out,
                           uint32_t n);

/**
 * Fills `out` with how many logical blocks the reclaim unit of each of the first `n` handles of a namespace can still take.
 *
 * Returns how many handles there are. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (no handles), MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_handles(int64_t handle,
                        uint32_t nsid,
                        uint64_t *out,
                        uint32_t n);

/**
 * Has a reclaim unit handle refer to an empty reclaim unit: what is gathered for it is programmed, with padding, and its
 * reclaim unit is closed. Namespaces of an NVM set share handles. Thread-safe.
 *
 * Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (no handles, `pid`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_handle_update(int64_t handle,
                              uint32_t nsid,
                              uint32_t pid);

/**
 * Fills `*out` with what the zones of a namespace are like. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (no zones), MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null, or points to a struct whose size is set.
 */
int32_t meldsim_zones_info(int64_t handle,
                           uint32_t nsid,
                           struct meldsim_zones *out);

/**
 * Zone Management Receive (7Ah), Report Zones: fills `out` with the first `n` values of the report of the zones from that of
 * logical block `slba` on. `options` are its Reporting Options: 0 all zones, 1 empty ones, 2 those open implicitly, 3
 * explicitly, 4 closed, 5 full, 6 read only, 7 offline. It takes no simulated time.
 *
 * Each zone is five values: its type, which is 2 (sequential write required), its state, its first logical block, its capacity,
 * and its write pointer, which of a full zone is UINT64_MAX. The state is 1 empty, 2 open implicitly, 3 explicitly, 4 closed, 14
 * full.
 *
 * Returns how many values there are. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (`options`), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED (no zones),
 * MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_zone_report(int64_t handle,
                            uint32_t nsid,
                            uint64_t slba,
                            uint32_t options,
                            uint64_t *out,
                            uint32_t n);

/**
 * Fills `out` with the first `n` counters of the device, all since it was opened (names in `_ps`: simulated picoseconds).
 *
 * Returns how many counters there are, which may be more than `n` and grows from release to release; a null `out` with
 * `n` 0 asks for that only. `meldsim_stats_name` says what stands where: look a counter up by its name. In real-time mode
 * they are as of now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_stats(int64_t handle,
                      uint64_t *out,
                      uint32_t n);

/**
 * The name of the counter at `index` of `meldsim_stats`, such as `read_commands`; null past the last one.
 *
 * The text is NUL-terminated, belongs to the library and lives as long as it. Thread-safe; nothing else can go wrong.
 */
const char *meldsim_stats_name(uint32_t index);

/**
 * What the counter at `index` of `meldsim_stats` counts, in one English sentence; else as `meldsim_stats_name`.
 */
const char *meldsim_stats_description(uint32_t index);

/**
 * Fills `out` with the first `n` counters of a namespace, all since the device was opened; else as `meldsim_stats`, with
 * `meldsim_namespace_stats_name` for what stands where. One whose name `meldsim_stats` has too counts what is the
 * namespace's of it. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_namespace_stats(int64_t handle,
                                uint32_t nsid,
                                uint64_t *out,
                                uint32_t n);

/**
 * The name of the counter at `index` of `meldsim_namespace_stats`; else as `meldsim_stats_name`.
 */
const char *meldsim_namespace_stats_name(uint32_t index);

/**
 * What the counter at `index` of `meldsim_namespace_stats` counts, in one English sentence; else as `meldsim_stats_name`.
 */
const char *meldsim_namespace_stats_description(uint32_t index);

/**
 * The latency that `quantile` (0 to 1, such as 0.99) of the reads or of the writes did not exceed, in simulated
 * picoseconds: from submission to completion, of all that completed since the device was opened or restored, within
 * 0.1 %. 0 when there were none.
 *
 * `opcode` is MELDSIM_READ or MELDSIM_WRITE. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int64_t meldsim_latency(int64_t handle, uint32_t opcode, double quantile);

/**
 * Fills `out` with how long each channel's bus was held since the device was opened, in simulated picoseconds, for the
 * first `n` channels.
 *
 * Returns how many channels there are; a null `out` with `n` 0 asks for that only. In real-time mode the times are as of
 * now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_channels_busy_ps(int64_t handle,
                                 uint64_t *out,
                                 uint32_t n);

/**
 * How long each die was busy, from command to idle; the dies of channel 0 first. Else as `meldsim_channels_busy_ps`.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_dies_busy_ps(int64_t handle, uint64_t *out, uint32_t n);

/**
 * Keeps what every channel, die, core and command of the device does from now on: the latest of it, in at most `bytes`
 * bytes of memory (65536 to MELDSIM_TIMELINE_BYTES_MAX). A command takes about 30 bytes for each page. What was kept
 * before is gone. Commands that are outstanding now are not told of. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (`bytes`, or the memory is no flash), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_timeline_start(int64_t handle, uint64_t bytes);

/**
 * Ends what `meldsim_timeline_start` began and writes it to a new file at `path`, for `meldsim timeline --join`. Stores the
 * number of older records that had to make room in `*lost`, unless it is null. The device serves others meanwhile.
 *
 * Returns the number of records in the file; 0, and no file, when nothing was begun. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, the file exists or cannot be written), MELDSIM_ERR_CLOSED,
 * MELDSIM_ERR_PANIC. What was kept is gone then, too.
 *
 * # Safety
 * `path` is null or a NUL-terminated string; `lost` is null or writable.
 */
int64_t meldsim_timeline_stop(int64_t handle,
                              const char *path,
                              uint64_t *lost);

/**
 * Registers a victim policy, which profiles name from then on: `gc.victim = "NAME"`. Where one was registered so under that name
 * before, the table replaces the earlier one for devices to come. Thread-safe. `abi_version` is MELDSIM_ABI_VERSION as the caller
 * was compiled with. `name`: small letters, digits and hyphens. `about`: what it does, in a line.
 *
 * A function of the table that returns a number below 0, or names a superblock that it was not given, ends the call or the run
 * with MELDSIM_ERR_POLICY, whose text names the policy, and has the text of meldsim_policy_error.
 *
 * Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, another size, unknown flags, a name that is the library's own).
 *
 * # Safety
 * `name` and `about` are null or NUL-terminated; `table` is null or points to a struct, whose functions stay callable.
 */
int32_t meldsim_register_victims(uint32_t abi_version,
                                 const char *name,
                                 const char *about,
                                 const struct meldsim_victims *table);

/**
 * Registers a placement policy: `ftl.placement = "NAME"`. As `meldsim_register_victims`.
 *
 * # Safety
 * As `meldsim_register_victims`.
 */
int32_t meldsim_register_placement(uint32_t abi_version,
                                   const char *name,
                                   const char *about,
                                   const struct meldsim_placement *table);

/**
 * Says why the calling thread's policy is about to return a number below 0, or null. A text that is not UTF-8 is left out.
 *
 * # Safety
 * `text` is null or NUL-terminated.
 */
int32_t meldsim_policy_error(const char *text);

/**
 * Of libmeldsim_study. Runs a whole workload on a device of its own, as `meldsim run` does, and keeps the result for the
 * calling thread: `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included.
 *
 * `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `request` is a JSON object, read before the call
 * returns; docs/reference/c-abi.md describes its keys. The result is what `meldsim run --format json` prints for the same profile,
 * workload and seed, byte by byte. Or the request is a step of a calibration, or some of its simulations. The call returns when
 * the run is over and cannot be interrupted. Thread-safe; runs on several threads share nothing.
 *
 * Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, not UTF-8, unknown keys, an impossible job, an unreadable trace),
 * MELDSIM_ERR_PROFILE (unknown name, unknown key, impossible device), as meldsim_submit where the device refuses a
 * request, MELDSIM_ERR_PANIC. The thread's earlier result is gone in any case.
 *
 * # Safety
 * `request` is null or a NUL-terminated string.
 */
int64_t meldsim_run(uint32_t abi_version,
                    const char *request);

/**
 * Of libmeldsim_study. Copies the result of the calling thread's last `meldsim_run`, `meldsim_report` or
 * `meldsim_timeline_join` into `buf`; else as `meldsim_last_error`. Returns 1 when there is none. The result stays until the
 * thread runs something else; running anything that is refused frees it.
 *
 * # Safety
 * `buf` is null, or points to `len` writable bytes.
 */
int64_t meldsim_run_result(char *buf,
                           uint64_t len);

/**
 * Of libmeldsim_study. Compares what Spark jobs of hdfs-meld recorded and draws a page of it, as `meldsim report` does, and
 * keeps a JSON object for the calling thread: `text` for a terminal, and whether all `holds` that was expected.
 * `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included. Thread-safe.
 *
 * `request` is a JSON object: `inputs`, paths of records and of folders with some; `command`, which the page shows; if wanted,
 * `html` and `json`, files to write, and `expect`, what must hold.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, unknown keys, an expectation or a record that is none, a file that cannot be read
 * or written), MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `request` is null or a NUL-terminated string.
 */
int64_t meldsim_report(const char *request);

/**
 * Of libmeldsim_study. Makes one timeline of what DataNodes and Spark recorded in `folder`, as `meldsim timeline --join` does,
 * and writes it to `output` for Perfetto. Names are hashes where `redact` is not 0. Keeps a JSON object of counts for the
 * calling thread: `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, not UTF-8, nothing recorded there, a damaged file, one that cannot be written),
 * MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `folder` and `output` are null or NUL-terminated strings.
 */
int64_t meldsim_timeline_join(const char *folder,
                              const char *output,
                              uint32_t redact);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MELDSIM_H */
