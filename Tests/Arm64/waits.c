// A program whose threads wait in system calls and compute, while `calls` stops them and makes calls in them. It checks
// all results. A wait that a signal seems to have interrupted counts as disturbed, since no signal is sent
// (`interruption_limit` has the exception).
//
// Ends with 7 when its standard input ends. Prints one line, which shows whether anything was disturbed.

#define _GNU_SOURCE
#include "waits.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  MILLISECOND = 1000000,
  TICK_MILLISECONDS = 3,
  TICK_BYTES = 100,
  SLEEP_MILLISECONDS = 2000,
  LATE_MILLISECONDS = 4000
};

static _Atomic bool isOver;
static _Atomic unsigned interrupted[WAIT_KINDS], wrong[WAIT_KINDS], rounds[WAIT_KINDS];
static const char *const names[WAIT_KINDS] = {WAIT_NAMES};
static uint32_t word, silent;
static int numbers[2], event, poller, quiet[2];

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void expect(enum wait_kind kind, bool isRight, bool isError) {
  if (isRight) return;
  if (isError && errno == EINTR) interrupted[kind]++;
  else wrong[kind]++;
}

static struct timespec time_of(uint64_t milliseconds) {
  return (struct timespec){(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * MILLISECOND};
}

// Each kind of wait has a function of its own, so that its thread's stack shows the kind.

#define WAIT_FUNCTION __attribute__((noinline, visibility("default"))) void

/// A stop must not lengthen the sleep by the time that it has already lasted.
WAIT_FUNCTION wait_sleep(void) {
  struct timespec time = time_of(SLEEP_MILLISECONDS);
  uint64_t begin = nanoseconds();
  int result = nanosleep(&time, NULL);
  expect(WAIT_SLEEP, result == 0, result != 0);
  uint64_t milliseconds = (nanoseconds() - begin) / MILLISECOND;
  expect(WAIT_SLEEP, milliseconds >= SLEEP_MILLISECONDS && milliseconds < LATE_MILLISECONDS, false);
}

WAIT_FUNCTION wait_futex_timed(void) {
  struct timespec time = time_of(SLEEP_MILLISECONDS);
  uint64_t begin = nanoseconds();
  long result = syscall(SYS_futex, &silent, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
  expect(WAIT_FUTEX_TIMED, result == -1 && errno == ETIMEDOUT, true);
  uint64_t milliseconds = (nanoseconds() - begin) / MILLISECOND;
  expect(WAIT_FUTEX_TIMED, milliseconds >= SLEEP_MILLISECONDS && milliseconds < LATE_MILLISECONDS, false);
}

WAIT_FUNCTION wait_futex(void) {
  uint32_t seen = __atomic_load_n(&word, __ATOMIC_SEQ_CST);
  long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
  expect(WAIT_FUTEX, result == 0 || errno == EAGAIN, true);
}

WAIT_FUNCTION wait_read(void) {
  static uint64_t last;
  uint64_t number = 0;
  ssize_t size = read(numbers[0], &number, sizeof number);
  if (size == 0 && isOver) return;
  expect(WAIT_READ, size == sizeof number, size < 0);
  if (size == sizeof number) {
    expect(WAIT_READ, number == last + 1, false);
    last = number;
  }
}

WAIT_FUNCTION wait_ppoll(void) {
  struct pollfd file = {.fd = quiet[0], .events = POLLIN};
  struct timespec time = time_of(20);
  int result = ppoll(&file, 1, &time, NULL);
  expect(WAIT_PPOLL, result == 0, result < 0);
}

WAIT_FUNCTION wait_epoll(void) {
  struct epoll_event events[2];
  int result = epoll_pwait(poller, events, 2, -1, NULL);
  expect(WAIT_EPOLL, result == 1, result < 0);
  uint64_t count;
  if (result == 1) expect(WAIT_EPOLL, read(event, &count, sizeof count) == sizeof count && count > 0, true);
}

/// Computes the same sums repeatedly, with registers of all kinds.
static inline __attribute__((always_inline)) void compute(enum wait_kind kind) {
  static double expected;
  double sum = 0, factor = 1.0000001;
  uint64_t state = 88172645463325252ull;
  for (unsigned i = 0; i < 20000; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    sum = sum * factor + (double)(state >> 40);
  }
  sum += (double)(state & 0xFFFFFF);
  if (expected == 0) expected = sum;
  expect(kind, sum == expected, false);
}

WAIT_FUNCTION wait_compute(void) { compute(WAIT_COMPUTE); }

#if defined(__aarch64__)
/// Sets all registers except the frame pointer and the counter, waits in a loop, and compares the registers.
WAIT_FUNCTION wait_registers(void) {
  uint64_t different;
  __asm__ volatile(".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,19,20,21,22,23,24,25,26,27,30\n"
                   "mov x\\n, #(1000 + \\n)\n"
                   "fmov d\\n, x\\n\n"
                   ".endr\n"
                   "mov %0, #20000\n"
                   "1: subs %0, %0, #1\n"
                   "b.ne 1b\n"
                   ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,19,20,21,22,23,24,25,26,27,30\n"
                   "sub x\\n, x\\n, #(1000 + \\n)\n"
                   "orr %0, %0, x\\n\n"
                   "fmov x\\n, d\\n\n"
                   "sub x\\n, x\\n, #(1000 + \\n)\n"
                   "orr %0, %0, x\\n\n"
                   ".endr\n"
                   : "=&r"(different)
                   :
                   : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                     "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x30", "cc",
                     "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
                     "v14", "v15", "v16", "v17", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v30");
  expect(WAIT_REGISTERS, different == 0, false);
}
#else
WAIT_FUNCTION wait_registers(void) { compute(WAIT_REGISTERS); }
#endif

static void *repeat(void *argument) {
  static void (*const functions[WAIT_KINDS])(void) = {wait_sleep, wait_futex_timed, wait_futex,   wait_read,
                                                      wait_ppoll, wait_epoll,       wait_compute, wait_registers};
  size_t kind = (size_t)argument;
  while (!isOver) {
    functions[kind]();
    rounds[kind]++;
  }
  return NULL;
}

/// Maximum number of waits of a kind that may look interrupted by a signal. On arm64, the first argument of epoll_pwait
/// is lost if the wait begins in the microseconds before a stop, so the call cannot be repeated. If no calls were
/// repeated, dozens of waits would be interrupted.
static unsigned interruption_limit(size_t kind) {
#if defined(__aarch64__)
  return kind == WAIT_EPOLL ? 3 : 0;
#else
  (void)kind;
  return 0;
#endif
}

/// Ends the waits of the other threads in turn. Allocates a block in each round, for the recorder.
static void *tick(void *unused) {
  (void)unused;
  struct timespec pause = time_of(TICK_MILLISECONDS);
  uint64_t number = 0, one = 1;
  while (!isOver) {
    nanosleep(&pause, NULL);
    void *volatile block = malloc(TICK_BYTES);
    free(block);
    number++;
    if (write(numbers[1], &number, sizeof number) != sizeof number) wrong[WAIT_READ]++;
    if (write(event, &one, sizeof one) != sizeof one) wrong[WAIT_EPOLL]++;
    __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  return NULL;
}

int main(void) {
  struct epoll_event waited = {.events = EPOLLIN};
  if (pipe(numbers) != 0 || pipe(quiet) != 0) return 1;
  event = eventfd(0, 0);
  poller = epoll_create1(0);
  if (event < 0 || poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, event, &waited) != 0) return 1;
  pthread_t threads[WAIT_KINDS], ticker;
  for (size_t kind = 0; kind < WAIT_KINDS; kind++)
    if (pthread_create(&threads[kind], NULL, repeat, (void *)kind) != 0) return 1;
  if (pthread_create(&ticker, NULL, tick, NULL) != 0) return 1;
  char byte;
  ssize_t size;
  do size = read(STDIN_FILENO, &byte, 1);
  while (size > 0);
  if (size < 0) wrong[WAIT_READ]++;
  isOver = true;
  // The ticker's last round may have come before the last waits began.
  uint64_t one = 1;
  for (int i = 0; i < 3; i++) {
    struct timespec pause = time_of(TICK_MILLISECONDS);
    nanosleep(&pause, NULL);
    (void)!write(event, &one, sizeof one);
    __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  pthread_join(ticker, NULL);
  close(numbers[1]);
  unsigned all = 0;
  bool isUsed = true;
  for (size_t kind = 0; kind < WAIT_KINDS; kind++) {
    pthread_join(threads[kind], NULL);
    bool isDisturbed = interrupted[kind] > interruption_limit(kind) || wrong[kind];
    all += isDisturbed;
    isUsed &= rounds[kind] > 0;
    if (isDisturbed)
      fprintf(stderr, "%s: %u of %u interrupted, %u wrong\n", names[kind], interrupted[kind], rounds[kind],
              wrong[kind]);
  }
  printf("%s\n", all == 0 && isUsed ? "undisturbed" : "disturbed");
  return 7;
}
