/* meldsim: a deterministic simulator of an SSD with melded pages. C ABI.
 *
 * Handles and tickets are integers; a wrong one is an error, never undefined behaviour. Statuses below 0 are errors,
 * whose text meldsim_last_error gives to the thread that got them. Everything ending in _ps is simulated picoseconds;
 * everything ending in _ns is wall nanoseconds. All functions may be called from any thread at any time.
 *
 * Generated from src/abi: UPDATE_HEADER=1 cargo test -p meldsim-capi header */

#ifndef MELDSIM_H
#define MELDSIM_H

#include <stdint.h>

/**
 * The version of this interface; give it to `meldsim_open`. It changes when a caller must be rebuilt.
 */
#define MELDSIM_ABI_VERSION 1

/**
 * Mode of `meldsim_set_mode`: simulated time moves as far as waits require.
 */
#define MELDSIM_ACCOUNT 0

/**
 * Mode of `meldsim_set_mode`: simulated time follows the wall clock, divided by the dilation.
 */
#define MELDSIM_REAL_TIME 1

/**
 * How many values `meldsim_namespace_info` knows.
 */
#define MELDSIM_NAMESPACE_INFO_COUNT 7

/**
 * How many values `meldsim_layout` knows.
 */
#define MELDSIM_LAYOUT_COUNT 3

/**
 * How many values `meldsim_set_info` knows.
 */
#define MELDSIM_SET_INFO_COUNT 13

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
 * Write directive: no hint.
 */
#define MELDSIM_DIRECTIVE_NONE 0x00000000

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
 * DSM field of a write: sequential, written seldom and read often; it will be read sequentially.
 */
#define MELDSIM_DSM_SEQUENTIAL_READS 0x00000043

/**
 * The most ranges of one call.
 */
#define MELDSIM_RANGES_MAX 256

/**
 * Context attributes of a range: it will be read sequentially, in commands of 64 logical blocks.
 */
#define MELDSIM_RANGE_SEQUENTIAL_READ 0x40000100

/**
 * How many values `meldsim_locate` knows.
 */
#define MELDSIM_LOCATION_COUNT 7

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
 * How many values `meldsim_window_info` knows.
 */
#define MELDSIM_WINDOW_INFO_COUNT 14

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
 * The error asked for with `meldsim_inject_fault`.
 */
#define MELDSIM_ERR_INJECTED -12

/**
 * The bytes are no snapshot, one of another version, damaged, or of a device that cannot be.
 */
#define MELDSIM_ERR_SNAPSHOT -13

/**
 * The most commands on one device, and so the most in one batch. Submitting more runs the engine (account mode) or
 * blocks (real-time mode) until there is room.
 */
#define MELDSIM_MAX_OUTSTANDING 1024

/**
 * One command of `meldsim_submit_batch`: 32 bytes without padding, fields as the arguments of `meldsim_submit`.
 */
typedef struct meldsim_command {
  /**
   * MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ or MELDSIM_DEALLOCATE.
   */
  uint32_t opcode;
  /**
   * Namespace, from `meldsim_namespace_create`.
   */
  uint32_t nsid;
  /**
   * First logical block.
   */
  uint64_t slba;
  /**
   * Number of logical blocks.
   */
  uint32_t nlb;
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
} meldsim_command;

/**
 * A range of logical blocks: 16 bytes, laid out as NVMe's Range Definition of Dataset Management.
 */
typedef struct meldsim_range {
  /**
   * Context attributes, such as MELDSIM_RANGE_SEQUENTIAL_READ; 0 for none, which a deallocation does not look at.
   */
  uint32_t attributes;
  /**
   * Number of logical blocks.
   */
  uint32_t nlb;
  /**
   * First logical block.
   */
  uint64_t slba;
} meldsim_range;

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
 * Creates a namespace of `size_bytes`, a multiple of the logical block size, and stores its id in `*nsid`.
 *
 * Namespaces are thin: their sizes may add up to more than the device holds. They live as long as the device, and go to
 * its NVM sets in turn, the first to set 0. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED. `*nsid` is set
 * on success only.
 *
 * # Safety
 * `nsid` is null or writable.
 */
int32_t meldsim_namespace_create(int64_t handle,
                                 uint64_t size_bytes,
                                 uint32_t *nsid);

/**
 * Creates a namespace in the NVM set `set`, which counts from 0; else as `meldsim_namespace_create`.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, set, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED. `*nsid` is
 * set on success only.
 *
 * # Safety
 * `nsid` is null or writable.
 */
int32_t meldsim_namespace_create_in(int64_t handle,
                                    uint32_t set,
                                    uint64_t size_bytes,
                                    uint32_t *nsid);

/**
 * Fills `out` with at most `n` of: bytes of a logical block, size in logical blocks, bytes of a flash page, bytes of a
 * wordline (the preferred unit of melded reads), capacity of the device in bytes, NVM set, logical blocks that hold data.
 *
 * Returns how many values there are (MELDSIM_NAMESPACE_INFO_COUNT, more in a later library). The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_namespace_info(int64_t handle,
                               uint32_t nsid,
                               uint64_t *out,
                               uint32_t n);

/**
 * Fills `out` with at most `n` of, for the flash pages that the range lies in: pages that hold data; of those, the ones in
 * the write buffer, which have no layout yet; of those, the ones melded, which share a wordline with what follows them.
 *
 * Returns how many values there are (MELDSIM_LAYOUT_COUNT, more in a later library). Takes wall time in proportion to the
 * range, about 10 ns a page, in which the device serves nobody else. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_layout(int64_t handle,
                       uint32_t nsid,
                       uint64_t slba,
                       uint64_t nlb,
                       uint64_t *out,
                       uint32_t n);

/**
 * The number of namespaces of the device; their ids count from 1. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_namespaces(int64_t handle);

/**
 * The number of NVM sets of the device, as its profile has it; they are numbered from 0. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_sets(int64_t handle);

/**
 * Fills `out` with at most `n` of an NVM set's: capacity in pages, pages that hold data, erased blocks; since the device
 * was opened pages programmed for the host, pages moved by garbage collection, blocks erased, reads begun and their bytes,
 * writes begun and their bytes, bytes programmed in all; its optimal write in bytes (a wordline), and what a read of one
 * page takes on an idle device, in simulated picoseconds.
 *
 * Returns how many values there are (MELDSIM_SET_INFO_COUNT, more in a later library). In real-time mode they are as of
 * now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, set), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_set_info(int64_t handle,
                         uint32_t set,
                         uint64_t *out,
                         uint32_t n);

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
 * Changes the arbitration burst and the weights of the priorities below urgent, as NVMe's Feature 01h does. A burst of 0 is
 * no limit; a weight of 0 is taken for 1. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_set_arbitration(int64_t handle,
                                uint32_t burst,
                                uint32_t high,
                                uint32_t medium,
                                uint32_t low);

/**
 * Fills `out` with at most `n` of: arbitration burst, 0 for no limit; weights of high, medium and low priority.
 *
 * Returns how many values there are (4, more in a later library). The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_arbitration(int64_t handle, uint64_t *out, uint32_t n);

/**
 * Submits one command; it reaches the device now, in simulated time.
 *
 * `opcode` is MELDSIM_FLUSH, MELDSIM_WRITE, MELDSIM_READ or MELDSIM_DEALLOCATE; `slba` and `nlb` count logical blocks (0
 * and 0 for a flush); a DSM field and a queue need `meldsim_submit_batch`; `directive` is `dtype << 16 | dspec` on a write, 0 for none; `flags` is 0 or a sum of
 * MELDSIM_DETACHED and MELDSIM_NO_WAIT.
 *
 * Returns a ticket above 0, to be given to `meldsim_wait` or `meldsim_forget` once; 0 when detached; or an error. When
 * MELDSIM_MAX_OUTSTANDING commands are on the device, the engine runs (account mode) or the call blocks (real-time mode)
 * until there is room. With MELDSIM_NO_WAIT it never blocks: nothing is submitted and MELDSIM_ERR_TIMEOUT returned.
 * Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (flags), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED (opcode,
 * directive), MELDSIM_ERR_CAPACITY (tickets), MELDSIM_ERR_TIMEOUT (no room), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC,
 * MELDSIM_ERR_INJECTED.
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
 * `cmds` is null, or points to `n` commands.
 */
int64_t meldsim_submit_batch(int64_t handle, const struct meldsim_command *cmds, uint32_t n, uint32_t flags);

/**
 * Says how the data of a stream will be read, where its writes do not say it themselves: `directive` is
 * MELDSIM_DIRECTIVE_SEQUENTIAL or MELDSIM_DIRECTIVE_RANDOM, or MELDSIM_DIRECTIVE_NONE to take it back. `stream` is 1 to 16,
 * of this namespace. For writes submitted from now on. Thread-safe.
 *
 * Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream, directive), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC,
 * MELDSIM_ERR_INJECTED.
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
 * Waits for a ticket: the simulated latency of its slowest command in picoseconds, or an error.
 *
 * `timeout_ns` is wall time; UINT64_MAX waits without limit. In account mode a wait runs the engine on the calling thread
 * and at least a little even when `timeout_ns` is 0. After MELDSIM_ERR_TIMEOUT the ticket stays valid; after anything
 * else it is used up. Thread-safe; of several threads that wait for one ticket, one gets the latency.
 *
 * Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_TIMEOUT, MELDSIM_ERR_CAPACITY (a write found the device full),
 * MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED.
 */
int64_t meldsim_wait(int64_t handle,
                     int64_t ticket,
                     uint64_t timeout_ns);

/**
 * Gives a ticket up without waiting; its commands run on as if detached. Thread-safe.
 *
 * Errors: MELDSIM_ERR_TICKET, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_forget(int64_t handle, int64_t ticket);

/**
 * Places data as if it had been written long ago with `directive`; takes no simulated time. Thread-safe.
 *
 * Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_UNSUPPORTED (directive),
 * MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED.
 */
int32_t meldsim_preload(int64_t handle, uint32_t nsid, uint64_t slba, uint64_t nlb, uint32_t directive);

/**
 * Puts the device into the state of one that has been used for long: every namespace filled to `fill_percent` (1 to 100)
 * from its start, of which the first `random_percent` (0 to 100) was overwritten at random until garbage collection came
 * to its steady state. What the namespaces held before is gone.
 *
 * First completes everything outstanding, at once. The state itself is computed, in no simulated time. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (a share), MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED.
 */
int32_t meldsim_precondition(int64_t handle,
                             uint32_t fill_percent,
                             uint32_t random_percent);

/**
 * Says how the data of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace will be read, for the writes to them that follow:
 * as Dataset Management with the integral dataset for read attribute. A range with sequential read and a command access
 * size will be read sequentially; any other takes back what was told, and so does a deallocation. A namespace remembers
 * 4096 ranges. The caller owns `ranges`, which is copied. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, `n`), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE (those before it are told),
 * MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `ranges` is null, or points to `n` ranges.
 */
int32_t meldsim_describe(int64_t handle,
                         uint32_t nsid,
                         const struct meldsim_range *ranges,
                         uint32_t n);

/**
 * Submits the deallocation of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace as one command, to submission queue
 * `queue`; all of them or, on an error, none. Else as `meldsim_submit`.
 *
 * # Safety
 * `ranges` is null, or points to `n` ranges.
 */
int64_t meldsim_deallocate(int64_t handle,
                           uint32_t nsid,
                           const struct meldsim_range *ranges,
                           uint32_t n,
                           uint32_t queue,
                           uint32_t flags);

/**
 * Fills `out` with at most `n` of where a logical block is: MELDSIM_UNMAPPED, MELDSIM_BUFFERED or MELDSIM_ON_FLASH; and on flash
 * its channel, die of the channel, plane, block, wordline, and page of the wordline, each from 0. MELDSIM_IN_XPOINT has the
 * die and the chunk of the device in the places of die and block, else 0.
 *
 * Returns how many values there are (MELDSIM_LOCATION_COUNT, more in a later library). In real-time mode they are as of
 * now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_locate(int64_t handle,
                       uint32_t nsid,
                       uint64_t lba,
                       uint64_t *out,
                       uint32_t n);

/**
 * Enables (`enable` 1) or disables (0) predictable latency mode for an NVM set, as NVMe's Feature 13h does. `events` is a sum
 * of the events to be reported, bits as in the log page (0 to 2 warnings, 14 budget exceeded, 15 excursion); the thresholds
 * are those of the warnings: reads of 4 KiB, optimal writes and milliseconds left. The mode begins in the non-deterministic
 * window, with a deterministic one earned. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (set, `enable`, `events`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_window_configure(int64_t handle,
                                 uint32_t set,
                                 uint32_t enable,
                                 uint32_t events,
                                 uint64_t reads_threshold,
                                 uint64_t writes_threshold,
                                 uint64_t time_threshold_ms);

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
 * Fills `out` with at most `n` of the Predictable Latency log page of an NVM set and its configuration: window, events; of a
 * whole deterministic window reads, writes and milliseconds; milliseconds outside that earn a whole one, and any; reads,
 * writes and milliseconds left in this window, or in the next one; events enabled, and thresholds of reads, writes and
 * milliseconds. Events are cleared unless `retain` is 1.
 *
 * Returns how many values there are (MELDSIM_WINDOW_INFO_COUNT, more in a later library). In real-time mode they are as of
 * now. The caller owns `out`. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (null, set, `retain`), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 *
 * # Safety
 * `out` is null with `n` 0, or points to `n` writable values.
 */
int32_t meldsim_window_info(int64_t handle,
                            uint32_t set,
                            uint32_t retain,
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
 * Runs a whole workload on a device of its own, as `meldsim run` does, and keeps the result for the calling thread:
 * `meldsim_run_result` gives it. Returns the bytes that it needs, its NUL included.
 *
 * `abi_version` is MELDSIM_ABI_VERSION as the caller was compiled with. `request` is a JSON object, read before the call
 * returns; docs/c-abi.md describes its keys. The result is what `meldsim run --format json` prints for the same profile,
 * workload and seed, byte by byte. The call returns when the run is over and cannot be interrupted. Thread-safe; runs on
 * several threads share nothing.
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
 * Copies the result of the calling thread's last `meldsim_run` into `buf`; else as `meldsim_last_error`. Returns 1 when there
 * is none. The result stays until the thread runs something else; running anything that is refused frees it.
 *
 * # Safety
 * `buf` is null, or points to `len` writable bytes.
 */
int64_t meldsim_run_result(char *buf,
                           uint64_t len);

/**
 * Test hook: after `after_calls` more calls of namespace_create, submit, submit_batch, wait or preload on this device,
 * the next one panics inside (`kind` 1: the device is out of service from then on, MELDSIM_ERR_PANIC) or fails, as does
 * every later one (`kind` 2: MELDSIM_ERR_INJECTED), or never returns (`kind` 3). `kind` 0 disarms. Thread-safe.
 *
 * Errors: MELDSIM_ERR_ARGUMENT (kind), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
 */
int32_t meldsim_inject_fault(int64_t handle, uint32_t kind, uint64_t after_calls);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MELDSIM_H */
