// Stops all threads of another process, and resumes them.

#ifndef LEAKTRACE_STOPPED_PROCESS_H
#define LEAKTRACE_STOPPED_PROCESS_H

#include "stopped_thread.h"

/// The most threads of a process that can be stopped. The memory for their states is reserved in advance.
enum { LT_MAX_THREADS = 1 << 16 };

/// The threads of a process, and their states. The guardian writes this, and its parent reads it after the answer.
struct lt_stopped_process {
  pid_t process;
  uint64_t begin;    ///< in monotonic nanoseconds; no thread was stopped before this time
  uint64_t end;      ///< when all threads had resumed, except one that makes a call for its tracer; 0 until then
  uint64_t lastLook; ///< the time of the last check that found no stopped thread
  size_t count;
  struct lt_copied_thread threads[LT_MAX_THREADS];
  // Only the guardian uses these, even while its parent reads the notes.
  uint8_t stages[LT_MAX_THREADS];
  bool mayRun[LT_MAX_THREADS]; ///< when it was listed, the thread ran, or slept and could not be interrupted
};

/// Stops all threads, including threads that begin during the call, and notes their registers. No thread stays stopped
/// for longer than `standstillMilliseconds`, plus less than a millisecond for each hundred threads. Threads that have
/// not stopped by then are late: their state is LT_THREAD_NOT_MET. They have been asked to stop, and run no code of the
/// program before they stop. Their registers are unknown. Returns 0, lt_copy_error or −errno. After an error, no thread
/// is stopped.
///
/// Threads that run or wait for a processor are asked to stop first. Sleeping threads are asked only when these have
/// stopped. So they are not disturbed while other threads wait for a processor.
int lt_stop_process(struct lt_stopped_process *stopped, uint32_t standstillMilliseconds);

/// Resumes all stopped threads.
void lt_release_process(struct lt_stopped_process *stopped);

/// Resumes all stopped threads except `kept`.
void lt_release_others(struct lt_stopped_process *stopped, size_t kept);

/// Waits for the late threads, and notes the registers of each when it stops. These are the registers that the thread
/// had when it was asked to stop. The other threads stay stopped, or keep running if they were resumed. Gives up after
/// a while on threads that do not stop.
void lt_await_late_threads(struct lt_stopped_process *stopped);

/// Resumes the late threads that have stopped by now, without noting their registers. Returns the number of threads
/// that have still not stopped.
size_t lt_release_late_threads(struct lt_stopped_process *stopped);

/// True if at least one thread has stopped, even if all threads have resumed since.
bool lt_has_met_thread(const struct lt_stopped_process *stopped);

/// Chooses a thread for a call, and makes it begin the call (lt_thread_begin_call). If the result is neither 0 nor
/// −ETIME, no thread is in the call. The result is then LT_COPY_NO_CALL if no thread was suitable, otherwise −errno.
int lt_begin_call_in_process(const struct lt_stopped_process *stopped, struct lt_injected_call *call, size_t *caller,
                             uint64_t deadline);

#endif
