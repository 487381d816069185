// The side of the process that requests a call. Checks the target, starts the guardian and receives its answer.

#define _GNU_SOURCE
#include "library_call.h"

#include "call_guardian.h"

#if LT_CAN_STOP_THREADS

#include "guardian.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

/// True if a signal has stopped a process. Such a process cannot make a call before another signal continues it.
static bool is_stopped(pid_t process) {
  char path[64], line[512], state = 0;
  snprintf(path, sizeof path, "/proc/%d/status", process);
  FILE *status = fopen(path, "re");
  if (status == NULL) return false;
  while (state == 0 && fgets(line, sizeof line, status)) sscanf(line, "State: %c", &state);
  fclose(status);
  return state == 'T';
}

int lt_call_in_library(pid_t process, const struct lt_library_call *call, struct lt_library_call_outcome *outcome) {
  *outcome = (struct lt_library_call_outcome){0};
  int result = lt_check_traceable(process, &outcome->tracer);
  if (result != 0) return result;
  if (is_stopped(process)) return LT_CALL_STOPPED;
  struct lt_call_exchange *exchange = lt_guardian_exchange(sizeof *exchange);
  if (exchange == NULL) return -errno;
  exchange->call = *call;
  exchange->stopped.process = process;
  struct lt_guardian guardian;
  result = lt_guardian_start(&guardian, lt_guard_call, exchange);
  if (result == 0) {
    if (!lt_guardian_await(&guardian, &result)) result = LT_COPY_LOST;
    lt_guardian_forget(&guardian);
    *outcome = exchange->outcome;
  }
  munmap(exchange, sizeof *exchange);
  return result == LT_COPY_NOT_ALLOWED ? lt_reason_of_refusal(process, &outcome->tracer) : result;
}

#else

int lt_call_in_library(pid_t process, const struct lt_library_call *call, struct lt_library_call_outcome *outcome) {
  *outcome = (struct lt_library_call_outcome){0};
  return LT_COPY_OTHER_MACHINE;
}

#endif
