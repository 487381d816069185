// All threads of another process, stopped.

#ifndef LEAKTRACE_STOPPED_PROCESS_H
#define LEAKTRACE_STOPPED_PROCESS_H

#include "stopped_thread.h"

/// A process of more threads is not stopped: their notes have a place in memory beforehand.
enum { LT_MOST_THREADS = 1 << 16 };

/// Shared by the guardian, which writes, and its parent, which reads after the answer.
struct lt_stopped_process {
  pid_t process;
  uint64_t begin;    ///< monotonic nanoseconds: no thread stood still before
  uint64_t end;      ///< all went on, but for one that makes a call for its tracer; 0 while they stand still
  uint64_t lastLook; ///< the last one at which none stood still
  size_t count;
  struct lt_copied_thread threads[LT_MOST_THREADS];
  // The guardian's own, while its parent reads the notes.
  uint8_t stages[LT_MOST_THREADS];
  bool mayRun[LT_MOST_THREADS]; ///< when it was listed; one that sleeps where no signal reaches it counts as such
};

/// Stops all threads, those too that begin while it is at work, and notes them. No thread stands still for longer than
/// `standstillMilliseconds`, and less than a millisecond for each hundred threads besides: those that have not stopped
/// by then are not met. They have been asked, and run no code of the program before they stop; but nothing is known of
/// them yet. 0, lt_copy_error or −errno: then none is stopped.
///
/// Threads that run or wait for a processor are asked first. The others go on until those have stopped, which takes the
/// time that a thread waits for its turn.
int lt_stop_process(struct lt_stopped_process *stopped, uint32_t standstillMilliseconds);

/// Lets all go on that have stopped.
void lt_release_process(struct lt_stopped_process *stopped);

/// The same for all but one.
void lt_release_others(struct lt_stopped_process *stopped, size_t kept);

/// Waits for threads that were not met, while the others go on or stand still as they do. Each is noted when it stops,
/// as it has been since it was asked. Those for which nobody can do more than wait are left after a moment.
void lt_await_late_threads(struct lt_stopped_process *stopped);

/// Lets those go on that stop only now, without a note. Returns how many have still not stopped.
size_t lt_release_late_threads(struct lt_stopped_process *stopped);

/// Tells whether a thread has stopped, even if all have gone on since.
bool lt_has_met_thread(const struct lt_stopped_process *stopped);

/// Chooses a thread that makes a call, and has it begin: see lt_thread_begin_call. A result other than 0 and −ETIME
/// means that no thread is in a call: LT_COPY_NO_CALL if none could be, −errno.
int lt_begin_call_in_process(const struct lt_stopped_process *stopped, struct lt_injected_call *call, size_t *caller,
                             uint64_t deadline);

#endif
