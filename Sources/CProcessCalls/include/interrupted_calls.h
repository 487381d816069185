// System calls that wait, and the effects on them of a stop by a tracer.

#ifndef LEAKTRACE_INTERRUPTED_CALLS_H
#define LEAKTRACE_INTERRUPTED_CALLS_H

#include <asm/unistd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Results that make the kernel restart a call after a stop. Only a tracer sees them (Linux, include/linux/errno.h).
enum { LT_RESTART = 512, LT_RESTART_NO_INTERRUPT = 513, LT_RESTART_NO_HANDLER = 514, LT_RESTART_BLOCK = 516 };

/// True if a call's result makes the kernel restart the call.
static inline bool lt_result_is_restart(int64_t result) {
  switch (-result) {
    case LT_RESTART:
    case LT_RESTART_NO_INTERRUPT:
    case LT_RESTART_NO_HANDLER:
    case LT_RESTART_BLOCK: return true;
    default: return false;
  }
}

/// The traits of a call.
enum {
  /// If only a tracer has interrupted the call, the kernel does not restart it. The call would return EINTR to the
  /// program. A call that returned EINTR has had no effect, so it can be repeated (Linux 6.18: fs/eventpoll.c,
  /// ipc/sem.c, kernel/signal.c, fs/aio.c, io_uring/io_uring.c, sock_intr_errno).
  LT_REPEATABLE = 1 << 0,
  /// Functions of the C library that wait in the call hold no lock of the loader or the recorder.
  LT_NO_LOCK = 1 << 1,
  /// The call restarts with its whole timeout after a stop. Other calls restart with the remaining time.
  LT_WHOLE_TIME = 1 << 2,
};

/// The form of a repeatable call's time limit. For a socket, the limit is a property of the socket.
enum lt_limit_form {
  LT_LIMIT_NONE = 0,
  LT_LIMIT_IN_MILLISECONDS,
  LT_LIMIT_AS_TIME,
  LT_LIMIT_IN_RING_ARGUMENT,
  LT_LIMIT_OF_RECEIVING,
  LT_LIMIT_OF_SENDING,
};

struct lt_waiting_call {
  int number;
  int traits; ///< LT_REPEATABLE, LT_NO_LOCK, LT_WHOLE_TIME
  enum lt_limit_form limit;
  uint8_t limitArgument; ///< index of the argument with the limit or the socket, from 0
};

/// The calls that wait and have a trait.
static const struct lt_waiting_call lt_waiting_calls[] = {
    {__NR_epoll_pwait, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_IN_MILLISECONDS, 3},
    {__NR_epoll_pwait2, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_AS_TIME, 3},
    {__NR_ppoll, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_pselect6, LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_NONE, 0},
    {__NR_rt_sigtimedwait, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_AS_TIME, 2},
    {__NR_semop, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_semtimedop, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_AS_TIME, 3},
    {__NR_msgrcv, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_io_getevents, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_AS_TIME, 4},
    {__NR_io_pgetevents, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_AS_TIME, 4},
    {__NR_io_uring_enter, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_IN_RING_ARGUMENT, 4},
    {__NR_read, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_RECEIVING, 0},
    {__NR_readv, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_RECEIVING, 0},
    {__NR_pread64, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_preadv, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_recvfrom, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_RECEIVING, 0},
    {__NR_recvmsg, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_RECEIVING, 0},
    {__NR_recvmmsg, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_accept, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_RECEIVING, 0},
    {__NR_accept4, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_RECEIVING, 0},
    {__NR_write, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_SENDING, 0},
    {__NR_writev, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_SENDING, 0},
    {__NR_sendto, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_SENDING, 0},
    {__NR_sendmsg, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_OF_SENDING, 0},
    {__NR_sendmmsg, LT_REPEATABLE, LT_LIMIT_OF_SENDING, 0},
    // A repeated call continues the connection that was begun (net/ipv4/af_inet.c).
    {__NR_connect, LT_REPEATABLE | LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_futex, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_nanosleep, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_clock_nanosleep, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_wait4, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_waitid, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    // Continues a wait that was interrupted.
    {__NR_restart_syscall, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_sched_yield, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_fsync, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_fdatasync, LT_NO_LOCK, LT_LIMIT_NONE, 0},
#ifdef __NR_epoll_wait // newer machines lack these calls
    {__NR_epoll_wait, LT_REPEATABLE | LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_IN_MILLISECONDS, 3},
    {__NR_poll, LT_NO_LOCK, LT_LIMIT_NONE, 0},
    {__NR_select, LT_NO_LOCK | LT_WHOLE_TIME, LT_LIMIT_NONE, 0},
    {__NR_pause, LT_NO_LOCK, LT_LIMIT_NONE, 0},
#endif
};

/// Returns the call with a number; NULL if it is not in the table. Linear in the table.
static inline const struct lt_waiting_call *lt_waiting_call(int64_t number) {
  for (size_t i = 0; i < sizeof lt_waiting_calls / sizeof *lt_waiting_calls; i++)
    if (lt_waiting_calls[i].number == number) return &lt_waiting_calls[i];
  return NULL;
}

/// True if the call with a number has a trait.
static inline bool lt_call_has(int64_t number, int trait) {
  const struct lt_waiting_call *call = lt_waiting_call(number);
  return call && call->traits & trait;
}

/// True for waits that would return EINTR to the program if a tracer interrupts them. See LT_REPEATABLE.
static inline bool lt_call_is_repeatable(int64_t call) { return lt_call_has(call, LT_REPEATABLE); }

#endif
