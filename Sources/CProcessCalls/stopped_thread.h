// One thread of another process, stopped by ptrace. Only this part knows the machine's registers.

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

/// A call that a stopped thread makes for its tracer.
struct lt_injected_call {
  uint64_t instruction; ///< address of a `syscall` instruction in the thread's memory
  long number;
  uint64_t arguments[4];
  /// Follows the new process from its first moment, stopped: `child` gets its number.
  bool followsChild;
  /// The kernel ends the thread's process when its tracer ends.
  bool endsWithTracer;
  /// A filter of system calls that limits the thread sees the call. Without this flag the filter is suspended during
  /// the call, which takes CAP_SYS_ADMIN.
  bool allowFiltered;
  // Its outcome.
  pid_t child;
  int64_t result;
  uint64_t nanoseconds;
  enum lt_call_progress progress;
  bool isRunning, isCancelled;
  uint64_t saved[LT_SAVED_WORDS]; ///< the thread's registers and mask
};

/// Monotonic time.
uint64_t lt_nanoseconds(void);

/// Waits for the tracee's next report until the deadline. Returns 0, −ETIME, or −ESRCH when the tracee no longer
/// exists. Reaps other tracees that have ended, and keeps the stops of others for their own calls. For a process whose
/// only children are tracees.
int lt_thread_await_report(pid_t thread, int *status, uint64_t deadline);

/// Reaps tracees that have ended, releases those that have become another program, and keeps the stops of others.
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

/// Makes a stopped thread start a call, with all signals blocked, and waits until it has entered it. Returns 0 then.
/// Returns −ETIME if it has not entered it by the deadline, for example without a processor: the call is cancelled.
/// After either, lt_thread_end_call must follow. After other errors the thread is unchanged: −EACCES if its filter
/// cannot be suspended, −EFAULT if there is no instruction for the call.
int lt_thread_begin_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline);

/// Waits until an entered call has made its child or returned. 0 or −ETIME.
int lt_thread_await_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline);

/// Waits for the call's end without a limit: a thread that is left before then goes astray. Then restores its registers
/// and its signal mask. The thread stays stopped; the kernel restarts its own call when it is released. Returns 0 if
/// the call was made, with its result in `call`; −ECANCELED if it was cancelled, −ESRCH if the thread has ended.
int lt_thread_end_call(pid_t thread, struct lt_injected_call *call);

/// Calls lt_thread_begin_call and lt_thread_end_call.
int lt_thread_call(pid_t thread, struct lt_injected_call *call);

/// Resumes a stopped thread. A wait that only the stop has interrupted is restarted.
void lt_thread_release(pid_t thread);

#endif
