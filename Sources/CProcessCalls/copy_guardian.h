// The guardian, a process that stops, copies and resumes the target.

#ifndef LEAKTRACE_COPY_GUARDIAN_H
#define LEAKTRACE_COPY_GUARDIAN_H

#include "stopped_process.h"

/// Memory that the guardian shares with its owner, the process that requests the copy.
struct lt_copy_exchange {
  struct lt_copy_options options;
  uint64_t exitCall;
  int reason;
  pid_t copy;
  uint64_t copyNanoseconds, longestPause;
  struct lt_stopped_process stopped;
};

/// Runs the guardian, and never returns. `exchange` is a struct lt_copy_exchange. The guardian answers with an int once
/// the copy is made or the target is held. It undoes this when its owner sends a byte, closes the control or ends, and
/// answers again. If the first step fails, it answers only once.
void lt_guard_copy(void *exchange);

#endif
