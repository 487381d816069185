// The process that stops, copies and lets go.

#ifndef LEAKTRACE_COPY_GUARDIAN_H
#define LEAKTRACE_COPY_GUARDIAN_H

#include "stopped_process.h"

/// Shared by the guardian and the process that asks.
struct lt_copy_exchange {
  struct lt_copy_options options;
  uint64_t exitCall;
  bool suspendsFilter; ///< one watches the target
  int reason;
  pid_t copy;
  uint64_t copyNanoseconds;
  struct lt_stopped_process stopped;
};

/// Descriptors of the guardian; it has no others.
enum { LT_GUARDIAN_CONTROL = 0, LT_GUARDIAN_ANSWER = 1, LT_GUARDIAN_PARENT = 2, LT_GUARDIAN_DESCRIPTORS = 3 };

/// The guardian's whole life. Answers twice, by an int each: after the begin, and after the end, which comes when its
/// control is closed or its parent ends. If the begin fails it answers once.
_Noreturn void lt_guard_copy(struct lt_copy_exchange *exchange);

#endif
