// The process that has another call a function of a library.

#ifndef LEAKTRACE_CALL_GUARDIAN_H
#define LEAKTRACE_CALL_GUARDIAN_H

#include "library_call.h"
#include "stopped_process.h"

/// Shared by the guardian and the process that asks, whose pointers are valid in both.
struct lt_call_exchange {
  struct lt_library_call call;
  struct lt_library_call_outcome outcome;
  bool isFiltered; ///< filters limit the process, and allow the call
  struct lt_stopped_process stopped;
};

/// The guardian's whole life, with a struct lt_call_exchange. Answers once, by an int.
void lt_guard_call(void *exchange);

#endif
