// Waits that lose the time they have waited. Calls nothing that allocates or locks, and uses no thread-local memory.
//
// A wait began when the thread left its processor. The thread's file `sched` has that time, in the processor's own
// clock (Linux 6.18, kernel/sched/debug.c). This clock leaves out the time of interrupts and of other virtual machines.
// The tracer learns its distance to CLOCK_MONOTONIC by running on that processor for a moment.

#include "image/timed_waits.h"

#include "arch/arch.h"
#include "check.h"
#include "os/number_text.h"
#include "os/os.h"
#include "os/thread_list.h"
#include "swift/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum {
  WAIT_LIMIT = 256, ///< threads; more keep their whole time
  PROCESSOR_LIMIT = 1024,
  TEXT_SIZE = 1024, ///< the files' beginnings have all fields that are read
  SECOND = 1000000000,
  MILLISECOND = 1000000,
};

/// The form of a call's time limit. A socket has its own limit.
enum form { IN_MILLISECONDS, AS_TIME, IN_RING_ARGUMENT, OF_RECEIVING, OF_SENDING };

static const struct call {
  long number;
  enum form form;
  uint8_t argument; ///< of the call, from 0
} calls[] = {
    {SYS_epoll_pwait, IN_MILLISECONDS, 3},
    {SYS_epoll_pwait2, AS_TIME, 3},
    {SYS_rt_sigtimedwait, AS_TIME, 2},
    {SYS_semtimedop, AS_TIME, 3},
    {SYS_io_getevents, AS_TIME, 4},
    {SYS_io_pgetevents, AS_TIME, 4},
    {SYS_io_uring_enter, IN_RING_ARGUMENT, 4},
    {SYS_recvfrom, OF_RECEIVING, 0},
    {SYS_recvmsg, OF_RECEIVING, 0},
    {SYS_read, OF_RECEIVING, 0},
    {SYS_readv, OF_RECEIVING, 0},
    {SYS_accept, OF_RECEIVING, 0},
    {SYS_accept4, OF_RECEIVING, 0},
    {SYS_sendto, OF_SENDING, 0},
    {SYS_sendmsg, OF_SENDING, 0},
    {SYS_sendmmsg, OF_SENDING, 0},
    {SYS_write, OF_SENDING, 0},
    {SYS_writev, OF_SENDING, 0},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, IN_MILLISECONDS, 3},
#endif
};

/// As the kernel takes it (struct io_uring_getevents_arg).
struct ring_argument {
  uint64_t mask;
  uint32_t maskSize, leastWait;
  uint64_t time;
};

/// Times for calls that take an address. They are in the program's memory. A thread uses its own until the call
/// returns.
struct told_time {
  uint32_t thread; ///< 0: the slot is free
  bool isExpected; ///< the thread was in such a wait before the threads stop
  struct timespec time;
  struct ring_argument ring;
  // For a wait whose limit belongs to a socket: the kernel restarts it with its full time.
  uint64_t carried;   ///< nanoseconds before the last restart
  uint64_t voluntary; ///< how often the thread will have left its processor, if it is still in that wait
};

static struct told_time told[WAIT_LIMIT];
static struct {
  bool isKnown;
  int64_t ahead; ///< the processor's clock less CLOCK_MONOTONIC, in nanoseconds
} clocks[PROCESSOR_LIMIT];

// --- files -----------------------------------------------------------------------------------------------------------

static uint64_t number_at(const char **text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) value = value * 10 + (uint64_t)(**text - '0');
  return value;
}

/// The number behind a name and a colon. False if it is not there.
static bool find_number(const char *text, const char *name, const char **at) {
  const char *found = strstr(text, name);
  if (!found || !(found = strchr(found, ':'))) return false;
  for (found++; *found == ' ';) found++;
  *at = found;
  return *found >= '0' && *found <= '9';
}

/// A thread's file `sched`.
struct schedule {
  uint64_t begin; ///< nanoseconds of its processor's clock
  uint64_t voluntary, involuntary;
};

static bool read_schedule(pid_t process, uint32_t thread, struct schedule *schedule) {
  char text[TEXT_SIZE];
  const char *at;
  if (lt_read_thread_file(process, thread, "sched", text, sizeof text) <= 0 || !find_number(text, "se.exec_start", &at))
    return false;
  // Milliseconds, and six places.
  uint64_t milliseconds = number_at(&at);
  if (*at++ != '.') return false;
  schedule->begin = milliseconds * MILLISECOND + number_at(&at);
  if (!find_number(text, "nr_voluntary_switches", &at)) return false;
  schedule->voluntary = number_at(&at);
  if (!find_number(text, "nr_involuntary_switches", &at)) return false;
  schedule->involuntary = number_at(&at);
  return true;
}

/// The call that a thread sleeps in.
struct sleeping_call {
  const struct call *call;
  uint64_t arguments[6];
};

static const struct call *find_call(long number) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i].number == number) return &calls[i];
  return NULL;
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

/// False if the thread runs, or is in another call than those above.
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

/// The processor that a thread ran on last. PROCESSOR_LIMIT if it is not known.
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

/// The time limit of a socket of the process's, for receiving or for sending; 0: none, or no socket.
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

/// Tells whether a call may have a limit. Most waits have none.
static bool is_limited(pid_t process, const struct sleeping_call *sleeping) {
  uint64_t value = sleeping->arguments[sleeping->call->argument];
  switch (sleeping->call->form) {
    case IN_MILLISECONDS: return (int32_t)value > 0;
    case AS_TIME: return value != 0;
    case IN_RING_ARGUMENT: return has_ring_structure(sleeping->arguments[RING_FLAGS]);
    case OF_RECEIVING: return limit_of_socket(process, value, SO_RCVTIMEO) != 0;
    case OF_SENDING: return limit_of_socket(process, value, SO_SNDTIMEO) != 0;
  }
  return false;
}

// --- slots -----------------------------------------------------------------------------------------------------------

static struct told_time *find_slot(uint32_t thread) {
  for (uint32_t i = 0; i < WAIT_LIMIT; i++)
    if (told[i].thread == thread) return &told[i];
  return NULL;
}

/// The thread's slot. A new thread gets one that no living thread has, since a thread may be on its way into its call.
static struct told_time *take_slot(pid_t process, uint32_t thread) {
  struct told_time *slot = find_slot(thread);
  if (!slot) slot = find_slot(0);
  for (uint32_t i = 0; i < WAIT_LIMIT && !slot; i++)
    if (!lt_thread_exists(process, (pid_t)told[i].thread)) slot = &told[i];
  if (slot && slot->thread != thread) *slot = (struct told_time){.thread = thread};
  return slot;
}

// --- clocks ----------------------------------------------------------------------------------------------------------

/// Compares a processor's clock with CLOCK_MONOTONIC, on that processor. What is read may be older than the clock:
/// waits then seem shorter, and none ends too early.
static void learn_clock(uint32_t processor) {
  uint64_t mask[PROCESSOR_LIMIT / 64] = {0};
  struct schedule own;
  mask[processor / 64] = 1ull << processor % 64;
  if (lt_syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) < 0) return;
  lt_syscall(SYS_sched_yield, 0, 0, 0);
  pid_t self = lt_process_id();
  if (!read_schedule(self, (uint32_t)self, &own)) return;
  clocks[processor].ahead = (int64_t)(own.begin - lt_clock_nanoseconds(CLOCK_MONOTONIC));
  clocks[processor].isKnown = true;
}

void lt_timed_waits_prepare(pid_t process) {
  for (uint32_t i = 0; i < WAIT_LIMIT; i++) told[i].isExpected = false;
  memset(clocks, 0, sizeof clocks);
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
    if (!clocks[processor].isKnown) learn_clock(processor);
    if (!clocks[processor].isKnown) continue;
    struct told_time *slot = take_slot(process, thread);
    if (slot) slot->isExpected = true;
    else isFull = true;
  }
  lt_thread_list_close(&list);
  // The copy that is made later has this process's.
  lt_syscall(SYS_sched_setaffinity, 0, size, before);
}

// --- waits -----------------------------------------------------------------------------------------------------------

void lt_timed_wait_look(pid_t process, uint32_t thread, struct lt_timed_wait *wait) {
  wait->call = -1;
  const struct told_time *slot = find_slot(thread);
  if (!slot || !slot->isExpected) return;
  struct schedule schedule;
  uint32_t processor = processor_of(process, thread);
  if (processor >= PROCESSOR_LIMIT || !clocks[processor].isKnown || !read_schedule(process, thread, &schedule)) return;
  struct sleeping_call sleeping;
  if (!read_call(process, thread, &sleeping)) return;
  *wait = (struct lt_timed_wait){.call = sleeping.call->number,
                                 .begin = schedule.begin - (uint64_t)clocks[processor].ahead,
                                 .voluntary = schedule.voluntary,
                                 .involuntary = schedule.involuntary};
}

/// The rest of a time. Nothing is left of one that is over.
static struct timespec rest_of(struct timespec time, uint64_t waited) {
  uint64_t all = (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec, left = all > waited ? all - waited : 0;
  return (struct timespec){(time_t)(left / SECOND), (long)(left % SECOND)};
}

/// Reads a time of the program's. False if it is none that can be shortened.
static bool read_time(uint64_t address, struct timespec *time) {
  enum { LONGEST_SECONDS = 1 << 30 };
  return address && lt_read_bytes(&lt_own_memory, address, time, sizeof *time) && time->tv_sec >= 0 &&
         time->tv_sec < LONGEST_SECONDS && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

/// A ring's call has its time in a structure, if the flags say so.
static bool shorten_ring(struct told_time *t, unsigned argument, uint64_t address, uint64_t waited) {
  uint64_t flags;
  struct timespec time;
  if (!lt_stopped_thread_argument((pid_t)t->thread, RING_FLAGS, &flags) || !has_ring_structure(flags) ||
      !lt_read_bytes(&lt_own_memory, address, &t->ring, sizeof t->ring) || !read_time(t->ring.time, &time))
    return false;
  t->time = rest_of(time, waited);
  t->ring.time = (uint64_t)(uintptr_t)&t->time;
  return lt_stopped_thread_set_argument((pid_t)t->thread, argument, (uint64_t)(uintptr_t)&t->ring);
}

/// Ends a wait on a socket once its limit is over. Until then the kernel restarts it with its full time.
static void end_on_time(pid_t process, struct told_time *t, uint64_t descriptor, int option, uint64_t waited,
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
  // It sleeps once more, and is stopped in it.
  t->voluntary = voluntary + 2;
}

void lt_timed_wait_shorten(pid_t process, uint32_t thread, const struct lt_timed_wait *wait) {
  struct schedule now;
  struct timespec time;
  uint64_t value;
  // The stop is one more time that it has left its processor.
  if (wait->call < 0 || !read_schedule(process, thread, &now) || now.voluntary != wait->voluntary + 1 ||
      now.involuntary != wait->involuntary)
    return;
  uint64_t waited = lt_clock_nanoseconds(CLOCK_MONOTONIC) - wait->begin;
  const struct call *call = find_call(wait->call);
  struct told_time *t = find_slot(thread);
  LT_CHECK(call && t && t->isExpected);
  if ((int64_t)waited <= 0 || !lt_stopped_thread_argument((pid_t)thread, call->argument, &value)) return;
  switch (call->form) {
    case IN_MILLISECONDS:
      if ((int32_t)value <= 0) return;
      // Rounded up: none ends too early.
      value = (uint32_t)value > waited / MILLISECOND ? (uint32_t)value - waited / MILLISECOND : 0;
      lt_stopped_thread_set_argument((pid_t)thread, call->argument, value);
      return;
    case AS_TIME:
      if (!read_time(value, &time)) return;
      t->time = rest_of(time, waited);
      lt_stopped_thread_set_argument((pid_t)thread, call->argument, (uint64_t)(uintptr_t)&t->time);
      return;
    case IN_RING_ARGUMENT: shorten_ring(t, call->argument, value, waited); return;
    case OF_RECEIVING: end_on_time(process, t, value, SO_RCVTIMEO, waited, now.voluntary); return;
    case OF_SENDING: end_on_time(process, t, value, SO_SNDTIMEO, waited, now.voluntary);
  }
}
