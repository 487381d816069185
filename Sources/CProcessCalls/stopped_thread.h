// One thread of another process, stopped by ptrace: what the machine's registers are is known here only.

#ifndef LEAKTRACE_STOPPED_THREAD_H
#define LEAKTRACE_STOPPED_THREAD_H

#include "process_copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__linux__) && defined(__x86_64__)
#define LT_CAN_STOP_THREADS 1
#else
#define LT_CAN_STOP_THREADS 0
#endif

/// A call that a stopped thread is to make for its tracer.
struct lt_injected_call {
  uint64_t instruction; ///< address of a `syscall` instruction in the thread's memory
  long number;
  uint64_t arguments[4];
  /// Follows the new process from its first moment, stopped: `child` gets its number.
  bool followsChild;
  /// The kernel ends the thread's process when its tracer ends.
  bool endsWithTracer;
  /// No filter of system calls sees the call. Takes CAP_SYS_ADMIN.
  bool suspendsFilter;
  pid_t child;
  int64_t result;
  uint64_t nanoseconds;
};

/// Monotonic time.
uint64_t lt_nanoseconds(void);

/// Asks a thread to stop. 0 or −errno.
int lt_thread_seize(pid_t thread);

/// Waits for a thread that was asked to stop, until `deadline`. Signals that arrive in between are given to it.
/// 0, −ETIME when it has not stopped, −ESRCH when it has ended.
int lt_thread_await_stop(pid_t thread, uint64_t deadline);

/// Waits for the end of a tracee that was killed, until `deadline`. False if it is still there.
bool lt_thread_await_end(pid_t thread, uint64_t deadline);

/// Registers of a stopped thread. 0, −errno, or LT_COPY_OTHER_MACHINE for one that runs 32-bit code.
int lt_thread_note(pid_t thread, struct lt_copied_thread *note);

/// True if the thread can make a call elsewhere: it is in a system call, or at an instruction that is no part of a
/// restartable sequence (rseq(2)), which must not be left unnoticed.
bool lt_thread_can_call(pid_t thread, const struct lt_copied_thread *note);

/// Has a stopped thread make a call, all signals blocked, and puts its registers and its mask back. It stays stopped,
/// and begins the call that it was in anew when it is let go. 0 when the call was made, with its result in `call`.
int lt_thread_call(pid_t thread, struct lt_injected_call *call);

/// Lets a stopped thread go on. A call whose wait only the stop has ended is begun anew.
void lt_thread_release(pid_t thread);

#endif
