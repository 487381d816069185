// Writes heap profiles at an interval. A file has another name while it is being written, so that a reader of the
// folder finds only whole profiles.

#define _GNU_SOURCE
#include "profile/due_profiles.h"

#include "check.h"
#include "os/apart_task.h"
#include "os/number_text.h"
#include "os/os.h"
#include "profile/heap_profile.h"
#include "record/message.h"
#include "record/trace_file.h"
#include "sampling/sampling_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

static uint64_t interval, samplePeriod;
static _Atomic uint64_t nextProfile = UINT64_MAX;
static uint32_t written;           ///< files so far
static _Atomic uint32_t hasFailed; ///< and the user has been notified

void lt_due_profiles_begin(uint64_t every, uint64_t period) {
  interval = every;
  samplePeriod = period;
  written = 0;
  lt_heap_profile_begin();
  atomic_store(&nextProfile, every ? lt_clock_nanoseconds(CLOCK_MONOTONIC) + every : UINT64_MAX);
}

/// Writes the path of a file: the trace's path without its ending, then a number and an ending. Returns the end of the
/// number.
static char *put_path(char path[PATH_MAX + 64], uint32_t number) {
  static const char ending[] = ".trace";
  size_t length = strlen(lt_trace.file.path), n = sizeof ending - 1;
  if (length > n && memcmp(lt_trace.file.path + length - n, ending, n) == 0) length -= n;
  LT_CHECK(number < LT_PROFILE_FILES && length + 32 < PATH_MAX + 64);
  memcpy(path, lt_trace.file.path, length);
  char *p = path + length;
  memcpy(p, ".heap-", 6);
  p += 6;
  if (number < 10) *p++ = '0';
  p = lt_put_decimal(p, number);
  memcpy(p, ".pb.gz", 7);
  return p + 6;
}

static int write_file(const struct lt_heap_profile *profile) {
  static char path[PATH_MAX + 64], whole[PATH_MAX + 64];
  char *end = put_path(path, written % LT_PROFILE_FILES);
  memcpy(whole, path, sizeof whole);
  memcpy(end, ".new", 5);
  lt_unlink(path); // left by a process that has ended
  if (profile->size > lt_file_size_limit()) return -EFBIG;
  int file = lt_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (file < 0) return file;
  int error = lt_write_all(file, profile->bytes, profile->size);
  lt_close(file);
  if (!error) error = (int)lt_syscall6(SYS_renameat, AT_FDCWD, (long)path, AT_FDCWD, (long)whole, 0, 0);
  if (error) lt_unlink(path);
  return error;
}

static void write_profile(void *unused) {
  (void)unused;
  LT_CHECK(samplePeriod > 0);
  struct lt_heap_profile profile;
  int error = lt_heap_profile_make(&profile, samplePeriod);
  if (!error) error = write_file(&profile);
  lt_heap_profile_free(&profile);
  if (!error) written++;
  else if (!atomic_exchange(&hasFailed, 1))
    lt_message_apart("a heap profile could not be written beside", lt_trace.file.path, -error);
}

void lt_due_profiles_take(uint64_t now) {
  uint64_t due = atomic_load_explicit(&nextProfile, memory_order_relaxed);
  if (LT_LIKELY(now < due) || !atomic_compare_exchange_strong(&nextProfile, &due, now + interval)) return;
  lt_call_apart_meanwhile(write_profile, NULL);
}

void lt_due_profiles_end(void) {
  atomic_store(&nextProfile, UINT64_MAX);
  lt_apart_await_other();
}

void lt_due_profiles_finish(void) {
  bool isOn = atomic_exchange(&nextProfile, UINT64_MAX) != UINT64_MAX;
  lt_apart_await_other();
  if (isOn && atomic_load(&lt_is_sampling)) lt_call_apart(write_profile, NULL);
}

void lt_due_profiles_reset_after_fork(void) {
  atomic_store(&nextProfile, UINT64_MAX);
  atomic_store(&hasFailed, 0);
  lt_heap_profile_reset_after_fork();
}
