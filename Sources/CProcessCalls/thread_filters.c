// Reads the seccomp filters of threads from the kernel, and runs them. Uses PTRACE_SECCOMP_GET_FILTER (Linux 4.4),
// which requires CAP_SYS_ADMIN and a tracer that has no filter itself.

#define _GNU_SOURCE
#include "thread_filters.h"

#if LT_CAN_STOP_THREADS

#include "listed_threads.h"
#include "recorder_calls.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

enum {
  GET_FILTER = 0x420c,       // linux/ptrace.h
  REMEMBERED = 8,            // how many judged filters are kept: threads inherit filters, so most have the same
  UNKNOWN_CODE = 0x10000000, // used as the address of the recorder's calls
};

/// A filter, as the kernel returns it.
struct filter {
  unsigned count;
  struct sock_filter program[BPF_MAXINSNS];
};

/// True if a filter's answer may depend on the address of the call. That address is unknown, since the library is not
/// loaded yet.
static bool looks_at_code(const struct filter *filter) {
  const uint32_t begin = offsetof(struct seccomp_data, instruction_pointer), end = offsetof(struct seccomp_data, args);
  for (unsigned i = 0; i < filter->count; i++) {
    const struct sock_filter *step = &filter->program[i];
    bool loads = BPF_CLASS(step->code) == BPF_LD && BPF_MODE(step->code) == BPF_ABS;
    if (loads && step->k + sizeof(uint32_t) > begin && step->k < end) return true;
  }
  return false;
}

static enum lt_filter_verdict judge(const struct filter *filter, const char **call) {
  const struct lt_recorder_call *first = NULL;
  if (looks_at_code(filter)) return LT_FILTERS_UNSEEN;
  if (!lt_purposes_forbidden_by(filter->program, filter->count, LT_AUDIT_ARCHITECTURE, UNKNOWN_CODE, &first))
    return LT_FILTERS_ALLOW;
  *call = first->name;
  return LT_FILTERS_FORBID;
}

static bool is_same(const struct filter *one, const struct filter *other) {
  return one->count == other->count && memcmp(one->program, other->program, one->count * sizeof *one->program) == 0;
}

enum lt_filter_verdict lt_judge_filters(const struct lt_stopped_process *stopped, const char **call) {
  static struct filter allowed[REMEMBERED], filter;
  size_t remembered = 0;
  enum lt_filter_verdict verdict = LT_FILTERS_NONE;
  for (size_t i = 0; i < stopped->count; i++) {
    pid_t thread = stopped->threads[i].thread;
    if (!lt_thread_is_filtered(thread)) continue;
    long count = 0;
    unsigned index = 0;
    for (;; index++) {
      count = ptrace(GET_FILTER, thread, index, NULL);
      if (count <= 0 || count > BPF_MAXINSNS) break;
      if (ptrace(GET_FILTER, thread, index, filter.program) != count) break;
      filter.count = (unsigned)count;
      bool isKnown = false;
      for (size_t k = 0; k < remembered && !isKnown; k++) isKnown = is_same(&filter, &allowed[k]);
      if (isKnown) continue;
      enum lt_filter_verdict its = judge(&filter, call);
      if (its != LT_FILTERS_ALLOW) return its;
      if (remembered < REMEMBERED) allowed[remembered++] = filter;
    }
    // Other results are errors. In strict mode, there is no filter at index 0, and the kernel allows only four calls.
    if (count >= 0 || errno != ENOENT || index == 0) return LT_FILTERS_UNSEEN;
    verdict = LT_FILTERS_ALLOW;
  }
  return verdict;
}

#endif
