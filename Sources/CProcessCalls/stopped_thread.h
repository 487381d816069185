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

/// Words that keep a thread's registers and its mask of signals.
enum { LT_SAVED_WORDS = 28 };

/// The progress of a call that a thread makes for its tracer.
enum lt_call_progress {
  LT_CALL_NOT_BEGUN, ///< the thread is as it was
  LT_CALL_UNDER_WAY, ///< it is on its way to the call
  LT_CALL_ENTERED,   ///< it is in the call
  LT_CALL_HAS_CHILD, ///< the call has made its child, and has not returned
  LT_CALL_RETURNED,
};

/// A call that a stopped thread is to make for its tracer.
struct lt_injected_call {
  uint64_t instruction; ///< address of a `syscall` instruction in the thread's memory
  long number;
  uint64_t arguments[4];
  /// Follows the new process from its first moment, stopped: `child` gets its number.
  bool followsChild;
  /// The kernel ends the thread's process when its tracer ends.
  bool endsWithTracer;
  /// A filter of system calls that limits the thread sees the call. Without this it is suspended for the call's time,
  /// which takes CAP_SYS_ADMIN.
  bool allowFiltered;
  // What becomes of it.
  pid_t child;
  int64_t result;
  uint64_t nanoseconds;
  enum lt_call_progress progress;
  bool isRunning, isCancelled;
  uint64_t saved[LT_SAVED_WORDS]; ///< the thread's registers and mask
};

/// Monotonic time.
uint64_t lt_nanoseconds(void);

/// The tracee's next report, until the deadline. 0, −ETIME, or −ESRCH when there is no such tracee any more. Takes note
/// of others that have ended, and keeps their stops for whoever asks for them. For a process that has no children but
/// tracees.
int lt_thread_await_report(pid_t thread, int *status, uint64_t deadline);

/// Takes note of tracees that have ended, lets go those that have become another program, and keeps the stops of
/// others.
void lt_threads_take_reports(void);

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

/// Has a stopped thread set out for a call, all signals blocked, and waits until it has entered it. 0 then; −ETIME if
/// it has not come so far by the deadline, as when it gets no processor: the call is cancelled. After both,
/// lt_thread_end_call must follow. Other errors: −EACCES where its filter cannot be suspended, −EFAULT where there is
/// no instruction for it; then the thread is as it was.
int lt_thread_begin_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline);

/// Waits until a call that was entered has made its child, or returns. 0 or −ETIME.
int lt_thread_await_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline);

/// Waits for the call's end, however long it takes: a thread that is left before goes astray. Then puts its registers
/// and its mask back. It stays stopped, and begins the call that it was in anew when it is let go. 0 when the call was
/// made, with its result in `call`; −ECANCELED if it was cancelled, −ESRCH if the thread has ended.
int lt_thread_end_call(pid_t thread, struct lt_injected_call *call);

/// Both.
int lt_thread_call(pid_t thread, struct lt_injected_call *call);

/// Lets a stopped thread go on. A call whose wait only the stop has ended is begun anew.
void lt_thread_release(pid_t thread);

#endif
