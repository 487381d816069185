// The process that stops, copies and resumes the target.

#ifndef LEAKTRACE_COPY_GUARDIAN_H
#define LEAKTRACE_COPY_GUARDIAN_H

#include "stopped_process.h"

/// Shared by the guardian and the process that asks.
struct lt_copy_exchange {
  struct lt_copy_options options;
  uint64_t exitCall;
  int reason;
  pid_t copy;
  uint64_t copyNanoseconds, longestPause;
  struct lt_stopped_process stopped;
};

/// The guardian's whole life, with a struct lt_copy_exchange. Answers twice, by an int each: after the begin, and after
/// the end, which comes when its control is closed or its parent ends. If the begin fails it answers once.
void lt_guard_copy(void *exchange);

#endif
