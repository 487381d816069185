// All threads of another process, stopped. Runs in a process that was forked from one with threads: no call here
// takes memory from an allocator.

#define _GNU_SOURCE
#include "stopped_process.h"

#if LT_CAN_STOP_THREADS

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  PATH_SIZE = 64,
  LISTING_SIZE = 16384,
  SYSCALL_LENGTH = 2,
  STAT_SIZE = 128, // the number, a name of 15 bytes, the state
  // A thread that may run stops as soon as it gets a processor, which takes this long where dozens compete for one.
  RUNNABLE_MILLISECONDS = 2000,
  STEP_MILLISECONDS = 20,
};

struct listed_entry { // getdents64(2)
  uint64_t inode;
  int64_t next;
  uint16_t length;
  uint8_t type;
  char name[];
};

static bool is_known(const struct lt_stopped_process *stopped, pid_t thread) {
  for (size_t i = stopped->count; i > 0; i--)
    if (stopped->threads[i - 1].thread == thread) return true;
  return false;
}

static void read_name(pid_t process, struct lt_copied_thread *thread) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/proc/%d/task/%d/comm", process, thread->thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t size = read(file, thread->name, sizeof thread->name);
  close(file);
  // The line's end; a name has 15 bytes at most.
  thread->name[size > 0 ? size - 1 : 0] = 0;
}

/// Asks the threads to stop that are listed and not known. Sets `found` if there was one.
static int seize_listed(struct lt_stopped_process *stopped, int folder, bool *found) {
  _Alignas(struct listed_entry) char listing[LISTING_SIZE];
  if (lseek(folder, 0, SEEK_SET) != 0) return LT_COPY_GONE;
  for (;;) {
    long size = syscall(SYS_getdents64, folder, listing, sizeof listing);
    if (size < 0) return errno == ENOENT || errno == ESRCH ? LT_COPY_GONE : -errno;
    if (size == 0) return 0;
    for (long offset = 0; offset < size;) {
      const struct listed_entry *entry = (const struct listed_entry *)(listing + offset);
      offset += entry->length;
      pid_t thread = (pid_t)strtol(entry->name, NULL, 10);
      if (thread <= 0 || is_known(stopped, thread)) continue;
      if (stopped->count == LT_MOST_THREADS) return -E2BIG;
      int result = lt_thread_seize(thread);
      // One that ends, or has ended while another has not been waited for.
      if (result == -ESRCH) continue;
      // A first thread that has ended before the others stays listed, and cannot be traced.
      if (result == -EPERM && stopped->count > 0) continue;
      if (result != 0) return result == -EPERM ? LT_COPY_NOT_ALLOWED : result;
      stopped->isReleasedLate[stopped->count] = false;
      stopped->threads[stopped->count++] = (struct lt_copied_thread){.thread = thread, .state = LT_THREAD_NOT_MET};
      *found = true;
    }
  }
}

/// Whether it only waits for a processor: one that sleeps has a state of its own.
static bool is_runnable(pid_t process, pid_t thread) {
  char path[PATH_SIZE], text[STAT_SIZE];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  // The name stands in brackets, and may hold others.
  const char *end = strrchr(text, ')');
  return end && end[1] == ' ' && end[2] == 'R';
}

/// Waits until a thread stops, beyond the deadline as long as it may run.
static int await_thread(const struct lt_stopped_process *stopped, pid_t thread, uint64_t deadline) {
  int result = lt_thread_await_stop(thread, deadline);
  uint64_t last = stopped->begin + RUNNABLE_MILLISECONDS * 1000000ull;
  while (result == -ETIME && lt_nanoseconds() < last && is_runnable(stopped->process, thread))
    result = lt_thread_await_stop(thread, lt_nanoseconds() + STEP_MILLISECONDS * 1000000ull);
  return result;
}

static void forget(struct lt_stopped_process *stopped, size_t i) {
  stopped->threads[i] = stopped->threads[--stopped->count];
}

/// Waits for the threads from `first` on that were asked to stop.
static int await_from(struct lt_stopped_process *stopped, size_t first, uint64_t deadline) {
  for (size_t i = first; i < stopped->count;) {
    struct lt_copied_thread *thread = &stopped->threads[i];
    int result = await_thread(stopped, thread->thread, deadline);
    if (result == -ESRCH) {
      forget(stopped, i);
      continue;
    }
    i++;
    if (result != 0) continue;
    thread->state = LT_THREAD_COMPUTING;
    result = lt_thread_note(thread->thread, thread);
    if (result == LT_COPY_OTHER_MACHINE) return result;
    read_name(stopped->process, thread);
  }
  return 0;
}

int lt_stop_process(struct lt_stopped_process *stopped, uint32_t milliseconds) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/proc/%d/task", stopped->process);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno == ENOENT ? LT_COPY_GONE : -errno;
  stopped->count = 0;
  stopped->begin = lt_nanoseconds();
  uint64_t deadline = stopped->begin + milliseconds * 1000000ull;
  int result = 0;
  for (bool found = true; found && result == 0;) {
    found = false;
    size_t first = stopped->count;
    result = seize_listed(stopped, folder, &found);
    int waited = await_from(stopped, first, deadline);
    if (result == 0) result = waited;
  }
  close(folder);
  if (result == 0 && stopped->count == 0) result = LT_COPY_GONE;
  if (result != 0) lt_release_process(stopped);
  return result;
}

void lt_release_process(struct lt_stopped_process *stopped) {
  for (size_t i = 0; i < stopped->count; i++)
    if (stopped->threads[i].state != LT_THREAD_NOT_MET) lt_thread_release(stopped->threads[i].thread);
  stopped->end = lt_nanoseconds();
}

size_t lt_release_late_threads(struct lt_stopped_process *stopped) {
  size_t late = 0;
  for (size_t i = 0; i < stopped->count; i++) {
    pid_t thread = stopped->threads[i].thread;
    if (stopped->threads[i].state != LT_THREAD_NOT_MET || stopped->isReleasedLate[i]) continue;
    int result = lt_thread_await_stop(thread, 0);
    if (result == 0) lt_thread_release(thread);
    stopped->isReleasedLate[i] = result != -ETIME;
    late += result == -ETIME;
  }
  return late;
}

/// In a thread's own system call, the instruction that made it is before the one it goes on at.
static int call_on(const struct lt_copied_thread *thread, const struct lt_injected_call *model,
                   struct lt_injected_call *call) {
  *call = *model;
  if (call->instruction == 0 && thread->state == LT_THREAD_IN_CALL)
    call->instruction = thread->programCounter - SYSCALL_LENGTH;
  return call->instruction == 0 ? -EFAULT : lt_thread_call(thread->thread, call);
}

int lt_call_in_process(const struct lt_stopped_process *stopped, struct lt_injected_call *call) {
  const struct lt_injected_call model = *call;
  int result = LT_COPY_NO_CALL;
  // Threads in a call first: nothing of theirs can be disturbed.
  for (uint32_t pass = 0; pass < 2; pass++) {
    uint32_t wanted = pass == 0 ? LT_THREAD_IN_CALL : LT_THREAD_COMPUTING;
    for (size_t i = 0; i < stopped->count; i++) {
      const struct lt_copied_thread *thread = &stopped->threads[i];
      if (thread->state != wanted || !lt_thread_can_call(thread->thread, thread)) continue;
      int made = call_on(thread, &model, call);
      if (made == 0) return 0;
      if (made != -EFAULT) result = made;
      // A thread that is lost on its way may have made the call.
      if (made != -EFAULT) return result;
    }
  }
  return result;
}

#endif
