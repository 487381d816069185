// The side of the process that requests a copy. Checks the target, starts the guardian and receives its answers.

#define _GNU_SOURCE
#include "process_copy.h"

#include "copy_guardian.h"
#include "exit_call.h"

#if LT_CAN_STOP_THREADS

#include "guardian.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { DEFAULT_STOP_MILLISECONDS = 10 };

static struct lt_guardian guardian_of(const struct lt_process_copy *copy) {
  return (struct lt_guardian){copy->guardian, copy->control, copy->answer};
}

static void forget_guardian(struct lt_process_copy *copy) {
  struct lt_guardian guardian = guardian_of(copy);
  lt_guardian_forget(&guardian);
  munmap(copy->exchange, sizeof(struct lt_copy_exchange));
  copy->exchange = NULL;
  copy->threads = NULL;
  copy->threadCount = 0;
}

int lt_process_copy_begin(pid_t process, const struct lt_copy_options *options, struct lt_process_copy *copy) {
  *copy = (struct lt_process_copy){.target = process};
  int result = lt_check_traceable(process, &copy->tracer);
  if (result != 0) return result;
  struct lt_copy_exchange *exchange = lt_guardian_exchange(sizeof *exchange);
  if (exchange == NULL) return -errno;
  exchange->options = *options;
  if (options->stopMilliseconds == 0) exchange->options.stopMilliseconds = DEFAULT_STOP_MILLISECONDS;
  exchange->stopped.process = process;
  exchange->exitCall = lt_find_exit_call(process);
  copy->exchange = exchange;
  struct lt_guardian guardian;
  result = lt_guardian_start(&guardian, lt_guard_copy, exchange);
  if (result != 0) {
    munmap(exchange, sizeof *exchange);
    return result;
  }
  copy->guardian = guardian.process;
  copy->control = guardian.control;
  copy->answer = guardian.answer;
  if (!lt_guardian_await(&guardian, &result)) result = LT_COPY_LOST;
  if (result != 0) {
    copy->reason = exchange->reason;
    forget_guardian(copy);
    return result == LT_COPY_NOT_ALLOWED ? lt_reason_of_refusal(process, &copy->tracer) : result;
  }
  bool isHeld = options->mode == LT_COPY_MODE_HOLD;
  copy->memory = isHeld ? process : exchange->copy;
  copy->pauseNanoseconds = isHeld ? 0 : exchange->longestPause;
  copy->copyNanoseconds = exchange->copyNanoseconds;
  copy->threads = exchange->stopped.threads;
  copy->threadCount = exchange->stopped.count;
  return 0;
}

int lt_process_copy_end(struct lt_process_copy *copy) {
  if (copy->exchange == NULL) return 0;
  int result;
  struct lt_guardian guardian = guardian_of(copy);
  if (send(copy->control, "", 1, MSG_NOSIGNAL) != 1 || !lt_guardian_await(&guardian, &result)) result = LT_COPY_LOST;
  forget_guardian(copy);
  return result;
}

#else

int lt_process_copy_begin(pid_t process, const struct lt_copy_options *options, struct lt_process_copy *copy) {
  *copy = (struct lt_process_copy){.target = process};
  return LT_COPY_OTHER_MACHINE;
}

int lt_process_copy_end(struct lt_process_copy *copy) { return 0; }

#endif
