// Stops the process's threads and resumes them. Knows the recorder's own threads. Shortens waits that a stop would
// prolong.

#define _GNU_SOURCE
#include "image/thread_stop.h"

#include "arch/arch.h"
#include "check.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/trace_file.h"
#include "swift/swift_runtime.h"
#include "thread/thread_state.h"

#include <errno.h>
#include <fcntl.h>
#include <interrupted_calls.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

// === the recorder's threads ==========================================================================================

static _Atomic pid_t watcher; ///< needs no order: no other data depends on it

pid_t lt_own_threads_watcher(void) { return atomic_load_explicit(&watcher, memory_order_relaxed); }

void lt_own_threads_set_watcher(pid_t thread) { atomic_store(&watcher, thread); }

bool lt_own_threads_serves(uint32_t osThread) {
  const struct lt_live_header *live = lt_trace.live;
  return live && osThread && atomic_load((const _Atomic uint32_t *)&live->servingThread) == osThread &&
         lt_thread_exists(lt_trace.process, (pid_t)osThread);
}

bool lt_own_threads_has_others(void) {
  // The directory of threads has one link for each thread, and two more links.
  struct stat info;
  pid_t watcher = lt_own_threads_watcher();
  unsigned own = watcher && watcher != lt_thread_id() ? 1 : 0;
  return lt_syscall6(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&info, 0, 0, 0) != 0 ||
         info.st_nlink != 3 + own;
}

// === timed waits =====================================================================================================

// Waits that start again from zero after a stop. Calls nothing that allocates or locks, and uses no thread-local
// memory.
//
// A wait began when the thread left its processor. The thread's file `sched` has that time, by the processor's own
// clock (Linux 6.18, kernel/sched/debug.c). This clock omits the time of interrupts and of other virtual machines. To
// learn its difference from CLOCK_MONOTONIC, the tracer runs on that processor for a moment.

enum {
  WAIT_LIMIT = 256, ///< the most threads with a shortened wait; the kernel restarts the waits of others with their full
                    ///< time
  PROCESSOR_LIMIT = 1024,
  TEXT_SIZE = 1024, ///< the beginning of a file up to this size has all fields that are read
  SECOND = 1000000000,
  MILLISECOND = 1000000,
};

/// The kernel's form of the argument (struct io_uring_getevents_arg).
struct ring_argument {
  uint64_t mask;
  uint32_t maskSize, minWait;
  uint64_t time;
};

/// A shortened time limit, for calls whose limit is passed by address. The structure lies in the program's memory. A
/// thread uses its structure until its call returns.
struct shortened_wait {
  uint32_t thread; ///< ID of the thread; 0 if the slot is free
  bool isExpected; ///< the thread was in such a wait before the threads were stopped
  struct timespec time;
  struct ring_argument ring;
  // For a wait whose limit belongs to a socket, because the kernel restarts it with its full time.
  uint64_t carried;   ///< nanoseconds waited before the last restart
  uint64_t voluntary; ///< number of times that the thread will have left its processor at the next stop, if it is still
                      ///< in the same wait
};

static struct {
  struct {
    bool isKnown;
    int64_t ahead; ///< the processor's clock minus CLOCK_MONOTONIC, in nanoseconds
  } clocks[PROCESSOR_LIMIT];
  struct shortened_wait shortened[WAIT_LIMIT];
} timedWaits;

// --- files -----------------------------------------------------------------------------------------------------------

static uint64_t number_at(const char **text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) value = value * 10 + (uint64_t)(**text - '0');
  return value;
}

/// Finds the number after a name and a colon. Returns false if it is not there.
static bool find_number(const char *text, const char *name, const char **at) {
  const char *found = strstr(text, name);
  if (!found || !(found = strchr(found, ':'))) return false;
  for (found++; *found == ' ';) found++;
  *at = found;
  return *found >= '0' && *found <= '9';
}

/// The contents of a thread's file `sched`.
struct schedule {
  uint64_t begin; ///< nanoseconds by the clock of the thread's processor
  uint64_t voluntary, involuntary;
};

static bool read_schedule(pid_t process, uint32_t thread, struct schedule *schedule) {
  char text[TEXT_SIZE];
  const char *at;
  if (lt_read_thread_file(process, thread, "sched", text, sizeof text) <= 0 || !find_number(text, "se.exec_start", &at))
    return false;
  // The time has the form of milliseconds with six decimal places.
  uint64_t milliseconds = number_at(&at);
  if (*at++ != '.') return false;
  schedule->begin = milliseconds * MILLISECOND + number_at(&at);
  if (!find_number(text, "nr_voluntary_switches", &at)) return false;
  schedule->voluntary = number_at(&at);
  if (!find_number(text, "nr_involuntary_switches", &at)) return false;
  schedule->involuntary = number_at(&at);
  return true;
}

/// The system call that a thread sleeps in.
struct sleeping_call {
  const struct lt_waiting_call *call;
  uint64_t arguments[6];
};

static const struct lt_waiting_call *find_call(long number) {
  const struct lt_waiting_call *call = lt_waiting_call(number);
  return call && call->limit != LT_LIMIT_NONE ? call : NULL;
}

static uint64_t hexadecimal_at(const char **text) {
  uint64_t value = 0;
  if ((*text)[0] == '0' && (*text)[1] == 'x') *text += 2;
  for (;; ++*text) {
    char c = **text;
    if (c >= '0' && c <= '9') value = value << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f') value = value << 4 | (uint64_t)(c - 'a' + 10);
    else return value;
  }
}

/// Reads the call that a thread sleeps in. Returns false if the thread runs, or if its call has no known time limit.
static bool read_call(pid_t process, uint32_t thread, struct sleeping_call *sleeping) {
  char text[TEXT_SIZE];
  const char *at = text;
  if (lt_read_thread_file(process, thread, "syscall", text, sizeof text) <= 0 || *at < '0' || *at > '9') return false;
  sleeping->call = find_call((long)number_at(&at));
  for (int i = 0; i < 6 && *at == ' '; i++) {
    at++;
    sleeping->arguments[i] = hexadecimal_at(&at);
  }
  return sleeping->call != NULL;
}

/// Returns the processor that a thread ran on last, or PROCESSOR_LIMIT if it is not known.
static uint32_t processor_of(pid_t process, uint32_t thread) {
  enum { PROCESSOR_FIELD = 39, STATE_FIELD = 3 };
  char text[TEXT_SIZE];
  if (lt_read_thread_file(process, thread, "stat", text, sizeof text) <= 0) return PROCESSOR_LIMIT;
  const char *at = strrchr(text, ')');
  for (int field = STATE_FIELD - 1; at && field < PROCESSOR_FIELD; field++)
    if ((at = strchr(at, ' '))) at++;
  return at && *at >= '0' && *at <= '9' ? (uint32_t)number_at(&at) : PROCESSOR_LIMIT;
}

// --- limits ----------------------------------------------------------------------------------------------------------

/// Returns the time limit of one of the process's sockets, for receiving or for sending, in nanoseconds. Returns 0 if
/// there is no limit, or if the descriptor is no socket.
static uint64_t limit_of_socket(pid_t process, uint64_t descriptor, int option) {
  struct timeval limit = {0};
  socklen_t size = sizeof limit;
  long handle = lt_syscall(SYS_pidfd_open, process, 0, 0);
  if (handle < 0) return 0;
  long own = lt_syscall(SYS_pidfd_getfd, handle, (int)descriptor, 0);
  if (own >= 0 && lt_syscall6(SYS_getsockopt, own, SOL_SOCKET, option, (long)&limit, (long)&size, 0) != 0)
    limit = (struct timeval){0};
  if (own >= 0) lt_close((int)own);
  lt_close((int)handle);
  return (uint64_t)limit.tv_sec * SECOND + (uint64_t)limit.tv_usec * 1000;
}

enum { RING_FLAGS = 3, RING_HAS_STRUCTURE = 1 << 3, RING_IS_ABSOLUTE = 1 << 5, RING_IS_REGISTERED = 1 << 6 };

static bool has_ring_structure(uint64_t flags) {
  return flags & RING_HAS_STRUCTURE && !(flags & (RING_IS_ABSOLUTE | RING_IS_REGISTERED));
}

/// True if a call may have a time limit. Most waits have none.
static bool is_limited(pid_t process, const struct sleeping_call *sleeping) {
  uint64_t value = sleeping->arguments[sleeping->call->limitArgument];
  switch (sleeping->call->limit) {
    case LT_LIMIT_IN_MILLISECONDS: return (int32_t)value > 0;
    case LT_LIMIT_AS_TIME: return value != 0;
    case LT_LIMIT_IN_RING_ARGUMENT: return has_ring_structure(sleeping->arguments[RING_FLAGS]);
    case LT_LIMIT_OF_RECEIVING: return limit_of_socket(process, value, SO_RCVTIMEO) != 0;
    case LT_LIMIT_OF_SENDING: return limit_of_socket(process, value, SO_SNDTIMEO) != 0;
    case LT_LIMIT_NONE: break;
  }
  return false;
}

// --- slots -----------------------------------------------------------------------------------------------------------

static struct shortened_wait *find_slot(uint32_t thread) {
  for (uint32_t i = 0; i < WAIT_LIMIT; i++)
    if (timedWaits.shortened[i].thread == thread) return &timedWaits.shortened[i];
  return NULL;
}

/// Returns the thread's slot. A new thread gets a free slot, or the slot of a thread that has ended. It never gets the
/// slot of a living thread, because that thread may be about to use its structure in a call.
static struct shortened_wait *take_slot(pid_t process, uint32_t thread) {
  struct shortened_wait *slot = find_slot(thread);
  if (!slot) slot = find_slot(0);
  for (uint32_t i = 0; i < WAIT_LIMIT && !slot; i++)
    if (!lt_thread_exists(process, (pid_t)timedWaits.shortened[i].thread)) slot = &timedWaits.shortened[i];
  if (slot && slot->thread != thread) *slot = (struct shortened_wait){.thread = thread};
  return slot;
}

// --- clocks ----------------------------------------------------------------------------------------------------------

/// Compares a processor's clock with CLOCK_MONOTONIC, on that processor. The value in the file may be older than the
/// clock. Waits then seem shorter than they are, so no wait ends too early.
static void learn_clock(uint32_t processor) {
  uint64_t mask[PROCESSOR_LIMIT / 64] = {0};
  struct schedule own;
  mask[processor / 64] = 1ull << processor % 64;
  if (lt_syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) < 0) return;
  lt_syscall(SYS_sched_yield, 0, 0, 0);
  pid_t self = lt_process_id();
  if (!read_schedule(self, (uint32_t)self, &own)) return;
  timedWaits.clocks[processor].ahead = (int64_t)(own.begin - lt_clock_nanoseconds(CLOCK_MONOTONIC));
  timedWaits.clocks[processor].isKnown = true;
}

void lt_timed_waits_prepare(pid_t process) {
  for (uint32_t i = 0; i < WAIT_LIMIT; i++) timedWaits.shortened[i].isExpected = false;
  memset(timedWaits.clocks, 0, sizeof timedWaits.clocks);
  uint64_t before[PROCESSOR_LIMIT / 64];
  long size = lt_syscall(SYS_sched_getaffinity, 0, sizeof before, before);
  struct lt_thread_list list;
  if (size <= 0 || lt_thread_list_open(&list, process) != 0) return;
  bool isFull = false;
  for (uint32_t thread; !isFull && (thread = lt_thread_list_next(&list)) != 0;) {
    struct sleeping_call sleeping;
    if (!read_call(process, thread, &sleeping) || !is_limited(process, &sleeping)) continue;
    uint32_t processor = processor_of(process, thread);
    if (processor >= PROCESSOR_LIMIT) continue;
    if (!timedWaits.clocks[processor].isKnown) learn_clock(processor);
    if (!timedWaits.clocks[processor].isKnown) continue;
    struct shortened_wait *slot = take_slot(process, thread);
    if (slot) slot->isExpected = true;
    else isFull = true;
  }
  lt_thread_list_close(&list);
  // Restore the processors of this process, because the copy made later inherits them.
  lt_syscall(SYS_sched_setaffinity, 0, size, before);
}

// --- waits -----------------------------------------------------------------------------------------------------------

void lt_timed_wait_record(pid_t process, uint32_t thread, struct lt_timed_wait *wait) {
  wait->call = -1;
  const struct shortened_wait *slot = find_slot(thread);
  if (!slot || !slot->isExpected) return;
  struct schedule schedule;
  uint32_t processor = processor_of(process, thread);
  if (processor >= PROCESSOR_LIMIT || !timedWaits.clocks[processor].isKnown ||
      !read_schedule(process, thread, &schedule))
    return;
  struct sleeping_call sleeping;
  if (!read_call(process, thread, &sleeping)) return;
  *wait = (struct lt_timed_wait){.call = sleeping.call->number,
                                 .begin = schedule.begin - (uint64_t)timedWaits.clocks[processor].ahead,
                                 .voluntary = schedule.voluntary,
                                 .involuntary = schedule.involuntary};
}

/// Returns the remaining part of a time limit, or 0 if the limit has passed.
static struct timespec rest_of(struct timespec time, uint64_t waited) {
  uint64_t all = (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec, left = all > waited ? all - waited : 0;
  return (struct timespec){(time_t)(left / SECOND), (long)(left % SECOND)};
}

/// Reads a time limit in the program's memory. Returns false if it is not a limit that can be shortened.
static bool read_time(uint64_t address, struct timespec *time) {
  enum { LONGEST_SECONDS = 1 << 30 };
  return address && lt_read_bytes(&lt_own_memory, address, time, sizeof *time) && time->tv_sec >= 0 &&
         time->tv_sec < LONGEST_SECONDS && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

/// Shortens a call of io_uring_enter, whose limit is in a structure if its flags say so.
static bool shorten_ring(struct shortened_wait *t, unsigned argument, uint64_t address, uint64_t waited) {
  uint64_t flags;
  struct timespec time;
  if (!lt_stopped_thread_argument((pid_t)t->thread, RING_FLAGS, &flags) || !has_ring_structure(flags) ||
      !lt_read_bytes(&lt_own_memory, address, &t->ring, sizeof t->ring) || !read_time(t->ring.time, &time))
    return false;
  t->time = rest_of(time, waited);
  t->ring.time = (uint64_t)(uintptr_t)&t->time;
  return lt_stopped_thread_set_argument((pid_t)t->thread, argument, (uint64_t)(uintptr_t)&t->ring);
}

/// Ends a wait on a socket once its limit has passed. Until then the kernel restarts the wait with its full time.
static void end_on_time(pid_t process, struct shortened_wait *t, uint64_t descriptor, int option, uint64_t waited,
                        uint64_t voluntary) {
  uint64_t limit = limit_of_socket(process, descriptor, option);
  if (!limit) return;
  if (t->voluntary == voluntary) waited += t->carried;
  if (waited >= limit) {
    lt_stopped_thread_set_result((pid_t)t->thread, -EAGAIN);
    t->voluntary = 0;
    return;
  }
  t->carried = waited;
  // By the next stop, the thread will have left its processor twice more: to sleep again, and for the stop.
  t->voluntary = voluntary + 2;
}

void lt_timed_wait_shorten(pid_t process, uint32_t thread, const struct lt_timed_wait *wait) {
  struct schedule now;
  struct timespec time;
  uint64_t value;
  // The stop itself adds 1 to the number of times that the thread has left its processor.
  if (wait->call < 0 || !read_schedule(process, thread, &now) || now.voluntary != wait->voluntary + 1 ||
      now.involuntary != wait->involuntary)
    return;
  uint64_t waited = lt_clock_nanoseconds(CLOCK_MONOTONIC) - wait->begin;
  const struct lt_waiting_call *call = find_call(wait->call);
  struct shortened_wait *t = find_slot(thread);
  LT_CHECK(call && t && t->isExpected);
  if ((int64_t)waited <= 0 || !lt_stopped_thread_argument((pid_t)thread, call->limitArgument, &value)) return;
  switch (call->limit) {
    case LT_LIMIT_IN_MILLISECONDS:
      if ((int32_t)value <= 0) return;
      // The remaining time is rounded up, so that no wait ends too early.
      value = (uint32_t)value > waited / MILLISECOND ? (uint32_t)value - waited / MILLISECOND : 0;
      lt_stopped_thread_set_argument((pid_t)thread, call->limitArgument, value);
      return;
    case LT_LIMIT_AS_TIME:
      if (!read_time(value, &time)) return;
      t->time = rest_of(time, waited);
      lt_stopped_thread_set_argument((pid_t)thread, call->limitArgument, (uint64_t)(uintptr_t)&t->time);
      return;
    case LT_LIMIT_IN_RING_ARGUMENT: shorten_ring(t, call->limitArgument, value, waited); return;
    case LT_LIMIT_OF_RECEIVING: end_on_time(process, t, value, SO_RCVTIMEO, waited, now.voluntary); return;
    case LT_LIMIT_OF_SENDING: end_on_time(process, t, value, SO_SNDTIMEO, waited, now.voluntary); return;
    case LT_LIMIT_NONE: return;
  }
}

// === stop ============================================================================================================

// Stops the threads of a process for a moment with ptrace, and resumes them.
//
// All of this runs in the tracer, which shares the thread-local memory of one of the threads. So nothing here may use
// errno or other thread-local memory, or call functions that do.

enum {
  THREAD_NUMBER_LIMIT = 1 << 22,
  STOP_EVENT = 128,
  PASS_LIMIT = 1000,
  STANDSTILL_MILLISECONDS = 25, ///< time from the first request to stop until the copy is made without waiting for late
                                ///< threads
  STOP_MILLISECONDS = 5000,     ///< the same time in the last try, on a busier machine
  INTERRUPT_MILLISECONDS = 2,   ///< time from a request to stop until a thread on another processor has certainly been
                                ///< interrupted
  // Limits for late threads, which may stop after the copy:
  PATIENCE_MILLISECONDS = 200,   ///< then stops waiting for threads that wait for a child in vfork
  LOCK_MILLISECONDS = 2000,      ///< then stops waiting for threads that wait for the disk, or for a lock of the kernel
  LATE_LOCK_MILLISECONDS = 8000, ///< the same after the copy, when no thread is stopped
};

/// The state of the thread at the same index of `lt_freeze.threads`.
struct tracee {
  uint32_t thread;
  bool isStopped, isGone;
  bool isLate;     ///< the thread has not stopped before the copy
  bool isReleased; ///< the tracer has detached, or the late thread has ended
  int signal;      ///< the signal that was about to be delivered when the thread stopped; 0 if none
  long call; ///< the system call that it slept in before the stop, if LT_LOSES_FIRST_ARGUMENT; negative if unknown
  uint64_t firstArgument; ///< of that call
  struct lt_timed_wait wait;
};

static struct {
  struct tracee *tracees;
  uint32_t *indexOf; ///< index in `tracees` by thread ID; 0 if the thread was not seen. All are 0 between two snapshots
} tracing;

bool lt_thread_stop_reserve(const struct lt_freeze *f) {
  if (!tracing.tracees) tracing.tracees = lt_map_private(f->threadLimit * sizeof *tracing.tracees);
  if (!tracing.indexOf) tracing.indexOf = lt_map_private(THREAD_NUMBER_LIMIT * sizeof *tracing.indexOf);
  return tracing.tracees && tracing.indexOf;
}

void lt_thread_stop_reset(void) {
  tracing.tracees = NULL;
  tracing.indexOf = NULL;
}

/// Returns the number of attached threads. Until lt_thread_stop_sort, `threadCount` is that number.
static uint32_t attached_count(const struct lt_freeze *f) {
  return f->attachedCount ? f->attachedCount : f->threadCount;
}

void lt_thread_stop_forget(const struct lt_freeze *f) {
  LT_CHECK(attached_count(f) <= f->threadLimit && f->threadCount <= attached_count(f));
  for (uint32_t i = 1; i < attached_count(f); i++) tracing.indexOf[tracing.tracees[i].thread] = 0;
}

// --- stopping ------------------------------------------------------------------------------------------------------

/// Returns the thread's state as a letter of proc(5), such as R (running), D (in an uninterruptible wait) or Z (ended).
/// Returns 0 if the thread is gone.
static char thread_state(pid_t process, uint32_t thread) {
  char text[256];
  long n = lt_read_thread_file(process, thread, "stat", text, sizeof text);
  // The line begins with: number (name) state. The name may contain anything, even parentheses.
  for (long i = n - 3; i >= 0; i--)
    if (text[i] == ')' && text[i + 1] == ' ') return text[i + 2];
  return 0;
}

/// Notes the first argument of the call that a thread sleeps in.
static void note_first_argument(pid_t process, struct tracee *tracee) {
  char text[TEXT_SIZE];
  const char *at = text;
  tracee->call = -1;
  if (lt_read_thread_file(process, tracee->thread, "syscall", text, sizeof text) <= 0 || *at < '0' || *at > '9') return;
  long call = (long)number_at(&at);
  if (*at++ != ' ') return;
  tracee->firstArgument = hexadecimal_at(&at);
  tracee->call = call;
}

/// Attaches to threads that were not seen yet, without stopping them. Returns their number, or −errno if attaching is
/// refused.
static int attach_new(struct lt_freeze *f) {
  struct lt_thread_list list;
  LT_CHECK(f->threadCount > 0 && f->threadCount <= f->threadLimit);
  int error = lt_thread_list_open(&list, f->process), found = 0;
  if (error) return error;
  for (uint32_t thread; found >= 0 && (thread = lt_thread_list_next(&list)) != 0;) {
    if (thread >= THREAD_NUMBER_LIMIT || thread == f->threads[0].osThread || tracing.indexOf[thread]) continue;
    error = (int)lt_syscall6(SYS_ptrace, PTRACE_SEIZE, thread, 0, 0, 0, 0);
    if (error) {
      char state = error == -ESRCH ? 0 : thread_state(f->process, thread);
      if (state != 0 && state != 'Z' && state != 'X') found = error;
      continue;
    }
    if (f->threadCount == f->threadLimit) {
      found = -E2BIG;
      continue;
    }
    found++;
    tracing.indexOf[thread] = f->threadCount;
    tracing.tracees[f->threadCount] = (struct tracee){.thread = thread};
    if (LT_LOSES_FIRST_ARGUMENT) note_first_argument(f->process, &tracing.tracees[f->threadCount]);
    lt_timed_wait_record(f->process, thread, &tracing.tracees[f->threadCount].wait);
    f->threads[f->threadCount++] = (struct lt_snapshot_thread){.osThread = thread};
  }
  lt_thread_list_close(&list);
  return found;
}

/// Asks the `count` threads that were attached last to stop.
static void interrupt_newest(struct lt_freeze *f, uint32_t count) {
  LT_CHECK(count < f->threadCount);
  for (uint32_t i = f->threadCount - count; i < f->threadCount; i++)
    lt_syscall6(SYS_ptrace, PTRACE_INTERRUPT, tracing.tracees[i].thread, 0, 0, 0, 0);
  f->awaitedCount += count;
}

/// Returns the thread's ID if the thread has stopped or ended since the last report, else 0. Returns −ECHILD if the
/// kernel has forgotten the thread.
static long take_report(uint32_t thread, int *status) {
  return lt_syscall6(SYS_wait4, thread, (long)status, __WALL | WNOHANG, 0, 0, 0);
}

/// Notes which threads have stopped or ended. Calls wait4 for each thread separately, because the kernel finds a single
/// thread by its ID. For a wait for any thread, the kernel searches all threads (Linux 6.18, kernel/exit.c,
/// do_wait_pid).
static void take_reports(struct lt_freeze *f) {
  int status;
  for (uint32_t i = 1; i < attached_count(f) && f->awaitedCount > 0; i++) {
    struct tracee *t = &tracing.tracees[i];
    if (t->isStopped || t->isGone) continue;
    long reported = take_report(t->thread, &status);
    if (reported == 0) continue;
    f->awaitedCount--;
    t->isGone = reported < 0 || !WIFSTOPPED(status);
    t->isStopped = !t->isGone;
    if (t->isStopped) t->signal = status >> 16 == STOP_EVENT ? 0 : WSTOPSIG(status);
  }
}

/// When a thread calls exec, it takes the ID of the first thread. Resumes that thread when it stops.
static void release_other_program(const struct lt_freeze *f) {
  int status;
  uint32_t first = (uint32_t)f->process, known = first < THREAD_NUMBER_LIMIT ? tracing.indexOf[first] : 0;
  if (known && !tracing.tracees[known].isReleased) return;
  if (take_report(first, &status) > 0 && WIFSTOPPED(status)) lt_syscall6(SYS_ptrace, PTRACE_DETACH, first, 0, 0, 0, 0);
}

/// True if a thread in an uninterruptible wait has called vfork or a similar call. It then waits until its child ends
/// or replaces its program.
static bool awaits_child(pid_t process, uint32_t thread) {
  char text[32];
  if (lt_read_thread_file(process, thread, "syscall", text, sizeof text) <= 0 || *text < '0' || *text > '9')
    return false;
  long call = 0;
  for (const char *c = text; *c >= '0' && *c <= '9'; c++) call = call * 10 + (*c - '0');
#ifdef SYS_vfork
  if (call == SYS_vfork) return true;
#endif
  return call == SYS_clone || call == SYS_clone3;
}

/// True if all threads that have not stopped are in uninterruptible waits. Such threads run no code, and they stop
/// before they return to the program. A parent in vfork may wait for a long time. Other waits end soon, and then the
/// thread's registers can be read. So up to `lockMilliseconds`, only waits in vfork count.
static bool stand_still(const struct lt_freeze *f, uint64_t milliseconds, uint64_t lockMilliseconds) {
  for (uint32_t i = 1; i < f->threadCount; i++) {
    if (tracing.tracees[i].isStopped || tracing.tracees[i].isGone) continue;
    uint32_t thread = f->threads[i].osThread;
    char state = thread_state(f->process, thread);
    if (state == 0 || state == 'Z' || state == 'X') continue;
    if (state != 'D' || (milliseconds <= lockMilliseconds && !awaits_child(f->process, thread))) return false;
  }
  return true;
}

/// True if the thread slept in a system call when it was stopped. For the stop, the kernel ends the call with EINTR, or
/// with a number that makes it restart the call afterwards. A call that was about to return has its normal result.
static bool is_interrupted_wait(const struct lt_stopped_thread *stopped) {
  if (stopped->call < 0) return false;
  return stopped->result == -EINTR || lt_result_is_restart(stopped->result);
}

/// Makes the kernel restart a call that ended with EINTR. If a handler of the host's runs first, the call returns
/// EINTR, as it would without the stop.
static void repeat_wait(const struct tracee *tracee, const struct lt_stopped_thread *stopped) {
  if (stopped->call < 0 || stopped->result != -EINTR || !lt_call_is_repeatable(stopped->call)) return;
  if (LT_LOSES_FIRST_ARGUMENT && tracee->call != stopped->call) return;
  lt_stopped_thread_repeat((pid_t)tracee->thread, tracee->firstArgument);
}

static void read_registers(struct lt_snapshot_thread *thread, const struct tracee *tracee) {
  struct lt_stopped_thread stopped;
  if (!lt_stopped_thread_read((pid_t)thread->osThread, &stopped)) return;
  if (!tracee->signal) repeat_wait(tracee, &stopped);
  thread->flags = LT_SNAPSHOT_THREAD_REGISTERS | (is_interrupted_wait(&stopped) ? LT_SNAPSHOT_THREAD_WAITING : 0);
  thread->stackPointer = lt_own_stack_left_at(stopped.stackPointer);
  thread->threadPointer = stopped.threadPointer;
  thread->instructionPointer = stopped.instructionPointer;
  // This thread belongs to the recorder. Its registers refer to no objects of the host, so omit them.
  if (thread->osThread == (uint32_t)lt_own_threads_watcher() || lt_own_threads_serves(thread->osThread)) return;
  memcpy(thread->registers, stopped.registers, sizeof stopped.registers);
}

uint64_t lt_milliseconds_since(uint64_t begin) { return (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin) / 1000000; }

static void sleep_between_looks(unsigned round) { lt_sleep(round < 8 ? 20000 : 500000); }

/// True if the threads that have stopped have waited long enough for the other threads.
static bool is_standstill_over(const struct lt_freeze *f, uint64_t asked) {
  uint64_t milliseconds = lt_milliseconds_since(f->stopBegin);
  if (lt_milliseconds_since(asked) < INTERRUPT_MILLISECONDS) return false;
  if (!f->isLastTry) return milliseconds >= STANDSTILL_MILLISECONDS;
  return milliseconds > STOP_MILLISECONDS ||
         (milliseconds > PATIENCE_MILLISECONDS && stand_still(f, milliseconds, LOCK_MILLISECONDS));
}

// The tracer need not wait for a late thread, because that thread stops before it runs another instruction of the
// program (Linux, kernel/signal.c, get_signal). Only the last try waits for late threads.
bool lt_thread_stop_all(struct lt_freeze *f) {
  for (int pass = 0; pass < PASS_LIMIT; pass++) {
    int found = attach_new(f);
    if (found < 0) return false;
    // Stopped threads make no new ones, so all threads were found.
    if (found == 0) return true;
    if (pass == 0) f->stopBegin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    interrupt_newest(f, (uint32_t)found);
    uint64_t asked = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    for (unsigned round = 0;; round++) {
      take_reports(f);
      if (f->awaitedCount == 0) break;
      if (is_standstill_over(f, asked)) break;
      sleep_between_looks(round);
    }
  }
  return true;
}

void lt_thread_stop_sort(struct lt_freeze *f) {
  f->attachedCount = f->threadCount;
  LT_CHECK(f->threadCount > 0 && f->threadCount <= f->threadLimit);
  for (uint32_t i = f->threadCount; i-- > 1;) {
    if (!tracing.tracees[i].isGone && !lt_isolated_task_has_stack(f->threads[i].stackPointer)) continue;
    uint32_t last = --f->threadCount;
    LT_CHECK(i <= last && last > 0);
    struct lt_snapshot_thread thread = f->threads[i];
    struct tracee tracee = tracing.tracees[i];
    f->threads[i] = f->threads[last];
    tracing.tracees[i] = tracing.tracees[last];
    f->threads[last] = thread;
    tracing.tracees[last] = tracee;
    tracing.indexOf[tracing.tracees[i].thread] = i;
    tracing.indexOf[tracing.tracees[last].thread] = last;
  }
  for (uint32_t i = 1; i < f->threadCount; i++) tracing.tracees[i].isLate = !tracing.tracees[i].isStopped;
}

/// Detaches from a stopped thread. The thread's wait continues with its remaining time, unless a handler runs first.
static void let_go(const struct lt_freeze *f, uint32_t i) {
  uint32_t thread = tracing.tracees[i].thread;
  LT_CHECK(tracing.tracees[i].isStopped && !tracing.tracees[i].isReleased);
  tracing.tracees[i].isReleased = true;
  if (!tracing.tracees[i].signal && f->threads[i].flags & LT_SNAPSHOT_THREAD_WAITING)
    lt_timed_wait_shorten(f->process, thread, &tracing.tracees[i].wait);
  lt_syscall6(SYS_ptrace, PTRACE_DETACH, thread, 0, tracing.tracees[i].signal, 0, 0);
}

void lt_thread_stop_resume(const struct lt_freeze *f) {
  for (uint32_t i = 1; i < attached_count(f); i++)
    if (tracing.tracees[i].isStopped && !tracing.tracees[i].isGone) let_go(f, i);
}

void lt_thread_stop_read(struct lt_freeze *f) {
  for (uint32_t i = 1; i < f->threadCount; i++)
    if (tracing.tracees[i].isStopped && !tracing.tracees[i].isGone) read_registers(&f->threads[i], &tracing.tracees[i]);
}

// --- late threads ----------------------------------------------------------------------------------------------------

/// True if a late thread has created a thread that the tracer does not know, and that therefore runs. The late thread
/// was in clone when it was asked to stop.
static bool has_made_thread(pid_t process, uint32_t thread) {
  struct lt_stopped_thread stopped;
  uint64_t flags;
  if (!lt_stopped_thread_read((pid_t)thread, &stopped) || stopped.result <= 0) return false;
  if (stopped.call != SYS_clone && stopped.call != SYS_clone3) return false;
  // Without the flags, an unknown thread of this process counts as made by the call.
  if (LT_LOSES_FIRST_ARGUMENT)
    return stopped.result < THREAD_NUMBER_LIMIT && !tracing.indexOf[stopped.result] &&
           lt_thread_exists(process, (pid_t)stopped.result);
  if (!lt_stopped_thread_argument((pid_t)thread, 0, &flags)) return false;
  // The first field of struct clone_args contains the flags.
  if (stopped.call == SYS_clone3 && !lt_read_bytes(&lt_own_memory, flags, &flags, sizeof flags)) return false;
  return flags & CLONE_THREAD && (stopped.result >= THREAD_NUMBER_LIMIT || !tracing.indexOf[stopped.result]);
}

/// Reads the registers of late threads that have stopped, and resumes these threads. Marks late threads that have
/// ended. Returns false if one has created an unknown thread.
static bool note_stopped_late(struct lt_freeze *f) {
  bool isComplete = true;
  for (uint32_t i = 1; i < f->attachedCount; i++) {
    struct tracee *t = &tracing.tracees[i];
    if (!t->isLate || t->isReleased || (!t->isStopped && !t->isGone)) continue;
    if (t->isGone) {
      t->isReleased = true;
      f->threads[i].flags |= LT_THREAD_LEFT_OUT;
      continue;
    }
    if (has_made_thread(f->process, t->thread)) isComplete = false;
    read_registers(&f->threads[i], t);
    if (lt_isolated_task_has_stack(f->threads[i].stackPointer)) f->threads[i].flags |= LT_THREAD_LEFT_OUT;
    let_go(f, i);
  }
  return isComplete;
}

uint32_t lt_thread_stop_note_late(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  bool isComplete = true;
  for (unsigned round = 0;; round++) {
    uint32_t before = f->awaitedCount;
    take_reports(f);
    release_other_program(f);
    if ((round == 0 || f->awaitedCount < before) && !note_stopped_late(f)) isComplete = false;
    if (f->awaitedCount == 0) break;
    uint64_t milliseconds = lt_milliseconds_since(begin);
    if (milliseconds > LT_LATE_MILLISECONDS || lt_parent_process_id() != f->process) return LT_LATE_LOST;
    // If a thread's registers are missing, an object that only they refer to looks leaked. So the registers are worth a
    // longer wait.
    if (milliseconds > PATIENCE_MILLISECONDS && stand_still(f, milliseconds, LATE_LOCK_MILLISECONDS)) break;
    sleep_between_looks(round);
  }
  if (isComplete) return LT_LATE_NOTED;
  return f->isLastTry ? LT_LATE_LOST : LT_LATE_GIVEN_UP;
}
