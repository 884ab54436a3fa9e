/*
 * Preloaded into a process: what its host can do to it, on command. The wall clock jumps, and the simulator's library gets no
 * memory. The commands are two numbers in the file that HOST_FAULTS names, which the test changes while the process runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct commands {
  int64_t clock_seconds; /* how far the wall clock is off */
  int64_t no_memory;     /* whether the simulator's allocations fail */
};

static volatile struct commands *commands;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

__attribute__((constructor)) static void attach(void) {
  const char *name = getenv("HOST_FAULTS");
  int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(struct commands), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) commands = mapped;
  close(file);
}

static int fails(void *caller) {
  Dl_info library;
  if (!commands || !commands->no_memory) return 0;
  if (!dladdr(caller, &library) || !strstr(library.dli_fname, "libmeldsim")) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size); }

int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = (int)syscall(SYS_clock_gettime, clock, now);
  if (status == 0 && clock == CLOCK_REALTIME && commands) now->tv_sec += commands->clock_seconds;
  return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
