// Waits that lose the time they have waited when a tracer stops their thread.
//
// The kernel restarts most waits with their remaining time, and some with their full time. With images in short
// intervals such a wait would never end. So the tracer shortens it.

#ifndef LEAKTRACE_TIMED_WAITS_H
#define LEAKTRACE_TIMED_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// A thread's wait, as it was before the thread was asked to stop.
struct lt_timed_wait {
  long call;                       ///< negative: it is in none that has to be shortened
  uint64_t begin;                  ///< CLOCK_MONOTONIC
  uint64_t voluntary, involuntary; ///< how often the thread has left its processor
};

/// Looks for threads in such waits, and learns the clocks of their processors. Before any thread is stopped: it may
/// take milliseconds. Changes the processors of the calling process for that time.
void lt_timed_waits_prepare(pid_t process);
/// Looks at a thread that is about to be asked to stop. Reads no file for threads that were in no such wait before.
void lt_timed_wait_look(pid_t process, uint32_t thread, struct lt_timed_wait *wait);
/// Leaves a stopped thread the rest of its wait, unless it has run since. By its tracer, in the program's memory.
void lt_timed_wait_shorten(pid_t process, uint32_t thread, const struct lt_timed_wait *wait);

#endif
