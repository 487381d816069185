// The guardian, a process that makes another process call a function of a library.

#ifndef LEAKTRACE_CALL_GUARDIAN_H
#define LEAKTRACE_CALL_GUARDIAN_H

#include "library_call.h"
#include "stopped_process.h"

/// Memory that the guardian shares with the process that requests the call. Pointers in it are valid in both processes.
struct lt_call_exchange {
  struct lt_library_call call;
  struct lt_library_call_outcome outcome;
  bool isFiltered; ///< seccomp filters limit the process, but allow the call
  struct lt_stopped_process stopped;
};

/// Runs the guardian. `exchange` is a struct lt_call_exchange. Answers once, with an int, and never returns.
void lt_guard_call(void *exchange);

#endif
