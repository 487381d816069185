// Stops and controls one thread of another process with ptrace.

#ifndef LEAKTRACE_STOPPED_THREAD_H
#define LEAKTRACE_STOPPED_THREAD_H

#include "process_copy.h"
#include "processor/processor.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#if LT_CAN_STOP_THREADS

/// A thread's general registers and signal mask.
struct lt_saved_thread {
  struct lt_thread_registers registers;
  uint64_t mask;
};

/// The progress of a call that a thread makes for its tracer.
enum lt_call_progress {
  LT_CALL_NOT_BEGUN, ///< the thread is unchanged
  LT_CALL_UNDER_WAY, ///< the thread was sent to the call, but has not entered it
  LT_CALL_ENTERED,   ///< the thread is in the call
  LT_CALL_HAS_CHILD, ///< the call has made its child, and has not returned
  LT_CALL_RETURNED,
};

/// A system call that a stopped thread makes for its tracer.
struct lt_injected_call {
  uint64_t instruction; ///< address of a system call instruction in the thread's memory
  long number;
  uint64_t arguments[LT_CALL_ARGUMENTS];
  /// The new process is traced and stopped from its start. `child` gets its number.
  bool followsChild;
  /// The kernel kills the thread's process when its tracer ends.
  bool endsWithTracer;
  /// The thread's seccomp filter also applies to this call. Without this flag, the filter is suspended during the call,
  /// which requires CAP_SYS_ADMIN.
  bool allowFiltered;
  // The call's outcome.
  pid_t child;
  int64_t result;
  uint64_t nanoseconds;
  enum lt_call_progress progress;
  bool isRunning, isCancelled;
  struct lt_saved_thread saved; ///< the thread's state before the call
};

/// Returns the monotonic time in nanoseconds.
uint64_t lt_nanoseconds(void);

/// Waits for the tracee's next report until the deadline. Returns 0, −ETIME, or −ESRCH when the tracee no longer
/// exists. Meanwhile reaps other tracees that have ended. Keeps the stops of the other tracees for later calls of this
/// function. All children of the calling process must be tracees.
int lt_thread_await_report(pid_t thread, int *status, uint64_t deadline);

/// Reaps tracees that have ended, releases tracees that have executed another program, and keeps the stops of the
/// others.
void lt_threads_take_reports(void);

/// Asks a thread to stop. Returns 0 or −errno.
int lt_thread_seize(pid_t thread);

/// Waits until a thread that was asked to stop has stopped, or until `deadline`. Meanwhile delivers the signals that
/// arrive for the thread. Returns 0, −ETIME if it has not stopped, or −ESRCH if it has ended.
int lt_thread_await_stop(pid_t thread, uint64_t deadline);

/// Waits until a tracee that was killed has ended, or until `deadline`. Returns false if it still exists.
bool lt_thread_await_end(pid_t thread, uint64_t deadline);

/// Reads the registers of a stopped thread. Returns 0, −errno, or LT_COPY_OTHER_MACHINE if the thread runs 32-bit code.
int lt_thread_note(pid_t thread, struct lt_copied_thread *note);

/// True if the thread can be moved to another instruction to make a call. It must be in a system call, or outside of
/// restartable sequences (rseq(2)). The kernel must notice when a thread leaves such a sequence.
bool lt_thread_can_call(pid_t thread, const struct lt_copied_thread *note);

/// Makes a stopped thread start a call, with all signals blocked, and waits until the thread has entered the call. Then
/// returns 0. Returns −ETIME, and cancels the call, if the thread has not entered the call by the deadline. For
/// example, the thread may have got no processor. After 0 or −ETIME, lt_thread_end_call must follow. After another
/// error, the thread is unchanged. −EACCES: its filter cannot be suspended. −EFAULT: there is no instruction for the
/// call.
int lt_thread_begin_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline);

/// Waits until an entered call has made its child or has returned. Returns 0 or −ETIME.
int lt_thread_await_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline);

/// Waits for the call's end, without a limit: a thread that is released earlier would continue in the wrong place. Then
/// restores the thread's registers and signal mask. The thread stays stopped. When it is released, the kernel restarts
/// its own system call. Returns 0 if the call was made; its result is in `call`. Returns −ECANCELED if the call was
/// cancelled, and −ESRCH if the thread has ended.
int lt_thread_end_call(pid_t thread, struct lt_injected_call *call);

/// Calls lt_thread_begin_call and lt_thread_end_call.
int lt_thread_call(pid_t thread, struct lt_injected_call *call);

/// Resumes a stopped thread. If only the stop has interrupted a wait of the thread, the wait is restarted.
void lt_thread_release(pid_t thread);

#endif

#endif
