// All threads of another process, stopped.

#ifndef LEAKTRACE_STOPPED_PROCESS_H
#define LEAKTRACE_STOPPED_PROCESS_H

#include "stopped_thread.h"

/// A process of more threads is not stopped: their notes have a place in memory beforehand.
enum { LT_MOST_THREADS = 1 << 16 };

/// Shared by the guardian, which writes, and its parent, which reads after the answer.
struct lt_stopped_process {
  pid_t process;
  uint64_t begin; ///< monotonic nanoseconds
  uint64_t end;
  size_t count;
  struct lt_copied_thread threads[LT_MOST_THREADS];
  bool isReleasedLate[LT_MOST_THREADS]; ///< the guardian's own, while its parent reads the notes
};

/// Stops all threads, those too that begin while it is at work, and notes them. 0, lt_copy_error or −errno: then none
/// is stopped.
int lt_stop_process(struct lt_stopped_process *stopped, uint32_t milliseconds);

/// Lets all go on that have stopped.
void lt_release_process(struct lt_stopped_process *stopped);

/// Lets those go on that stop only now. Returns how many have still not stopped.
size_t lt_release_late_threads(struct lt_stopped_process *stopped);

/// Has some thread make a call. 0, or why none could: LT_COPY_NO_CALL, −errno.
int lt_call_in_process(const struct lt_stopped_process *stopped, struct lt_injected_call *call);

#endif
