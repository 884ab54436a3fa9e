/*
 * Preloaded into a process: what its host can do to it, on command. The wall clock jumps, the simulator's library gets no
 * memory, and a write stops half done. The commands are numbers in the file that HOST_FAULTS names, which the test changes
 * while the process runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
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
  int64_t stop_write;    /* to which of STOPPED a write stops */
  int64_t stopped;       /* whether one has: said here */
};

/* Parts of file names, by number; 0 is none. */
static const char *const STOPPED[] = {NULL, "/journal-", "/snapshot-"};

static volatile struct commands *commands;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

__attribute__((constructor)) static void attach(void) {
  const char *name = getenv("HOST_FAULTS");
  int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(struct commands), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
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

static int stops(int file) {
  char link[32], name[PATH_MAX];
  int64_t which = commands ? commands->stop_write : 0;
  if (!which) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return 0;
  name[length] = 0;
  return strstr(name, STOPPED[which]) != NULL;
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (!stops(file)) return syscall(SYS_write, file, bytes, count);
  syscall(SYS_write, file, bytes, count / 2);
  commands->stopped = 1;
  for (;;) pause();
}

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
