// Waits that lose the time they have waited when a tracer stops their thread.
//
// The kernel begins most waits anew with the time that was left. Some it begins with all of it: images in short
// intervals would keep such a wait from ever ending. So the tracer shortens them.

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
/// take milliseconds. The calling process runs on other processors meanwhile.
void lt_timed_waits_prepare(pid_t process);
/// Looks at a thread that is about to be asked to stop. Constant for threads that were in no such wait before.
void lt_timed_wait_look(pid_t process, uint32_t thread, struct lt_timed_wait *wait);
/// Leaves a stopped thread the rest of its wait, unless it has run since. By its tracer, in the program's memory.
void lt_timed_wait_shorten(pid_t process, uint32_t thread, const struct lt_timed_wait *wait);

#endif
