// All threads of another process, stopped.

#ifndef LEAKTRACE_STOPPED_PROCESS_H
#define LEAKTRACE_STOPPED_PROCESS_H

#include "stopped_thread.h"

/// A process of more threads is not stopped: the memory for their notes is reserved beforehand.
enum { LT_MOST_THREADS = 1 << 16 };

/// Shared by the guardian, which writes, and its parent, which reads after the answer.
struct lt_stopped_process {
  pid_t process;
  uint64_t begin;    ///< monotonic nanoseconds: no thread was stopped before
  uint64_t end;      ///< all had resumed, except one that makes a call for its tracer; 0 until then
  uint64_t lastLook; ///< the time of the last check at which no thread was stopped
  size_t count;
  struct lt_copied_thread threads[LT_MOST_THREADS];
  // The guardian's own, while its parent reads the notes.
  uint8_t stages[LT_MOST_THREADS];
  bool mayRun[LT_MOST_THREADS]; ///< when listed; true also for a thread that sleeps where no signal reaches it
};

/// Stops all threads, including threads that begin during the call, and notes them. No thread stays stopped for longer
/// than `standstillMilliseconds`, plus less than a millisecond for each hundred threads. Threads that have not stopped
/// by then are not met. They have been asked, and run no code of the program before they stop; but nothing is known of
/// them yet. Returns 0, lt_copy_error or −errno; after an error no thread is stopped.
///
/// Threads that run or wait for a processor are asked first. The others run on until those have stopped, which takes as
/// long as a thread waits for its turn.
int lt_stop_process(struct lt_stopped_process *stopped, uint32_t standstillMilliseconds);

/// Resumes all stopped threads.
void lt_release_process(struct lt_stopped_process *stopped);

/// Resumes all stopped threads except `kept`.
void lt_release_others(struct lt_stopped_process *stopped, size_t kept);

/// Waits for threads that were not met, and notes each when it stops: its state is the one it had when it was asked.
/// The other threads stay stopped or run on, as before the call. Gives up after a moment on threads that do not stop.
void lt_await_late_threads(struct lt_stopped_process *stopped);

/// Resumes threads that stop only now, without a note. Returns the number that has still not stopped.
size_t lt_release_late_threads(struct lt_stopped_process *stopped);

/// True if any thread has stopped, even if all have resumed since.
bool lt_has_met_thread(const struct lt_stopped_process *stopped);

/// Chooses a thread for a call, and makes it begin: see lt_thread_begin_call. A result other than 0 and −ETIME means
/// that no thread is in a call: LT_COPY_NO_CALL if none could be, −errno.
int lt_begin_call_in_process(const struct lt_stopped_process *stopped, struct lt_injected_call *call, size_t *caller,
                             uint64_t deadline);

#endif
