// Hides the recorder's own children, which write heap images, from the host's calls. These calls wait for children of
// any kind, or give sums over all children.

#define _GNU_SOURCE
#include "hooks/hook.h"
#include "image/heap_snapshot.h"
#include "os/child_usage.h"
#include "profile/function_names.h"

#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>

static bool is_for_all_kinds(int options) { return options & (__WALL | __WCLONE); }

static bool is_helper(pid_t child) { return lt_snapshot_is_helper(child) || lt_function_names_is_helper(child); }

static pid_t wait_for_others(pid_t which, int *status, int options, struct rusage *usage) {
  for (;;) {
    int ended = 0;
    struct rusage its;
    pid_t child = NEXT(wait4)(which, &ended, options, &its);
    if (child > 0 && is_helper(child)) {
      lt_child_usage_note(&its);
      continue;
    }
    if (child > 0 && status) *status = ended;
    if (child > 0 && usage) *usage = its;
    return child;
  }
}

LT_EXPORT pid_t LT_HOOK(waitpid)(pid_t which, int *status, int options) {
  if (is_for_all_kinds(options)) return wait_for_others(which, status, options, NULL);
  __typeof__(&waitpid) next = NEXT(waitpid);
  __attribute__((musttail)) return next(which, status, options);
}

LT_EXPORT pid_t LT_HOOK(wait4)(pid_t which, int *status, int options, struct rusage *usage) {
  if (is_for_all_kinds(options)) return wait_for_others(which, status, options, usage);
  __typeof__(&wait4) next = NEXT(wait4);
  __attribute__((musttail)) return next(which, status, options, usage);
}

LT_EXPORT int LT_HOOK(waitid)(idtype_t kind, id_t which, siginfo_t *information, int options) {
  if (is_for_all_kinds(options)) {
    for (;;) {
      siginfo_t found = {0};
      int result = NEXT(waitid)(kind, which, &found, options);
      if (result == 0 && found.si_pid > 0 && is_helper(found.si_pid)) {
        // One that is only looked at would be found for ever.
        if (options & WNOWAIT) lt_reap(found.si_pid, 0);
        continue;
      }
      if (result == 0 && information) *information = found;
      return result;
    }
  }
  __typeof__(&waitid) next = NEXT(waitid);
  __attribute__((musttail)) return next(kind, which, information, options);
}

LT_EXPORT int LT_HOOK(getrusage)(__rusage_who_t who, struct rusage *usage) {
  int result = NEXT(getrusage)(who, usage);
  if (result == 0 && who == RUSAGE_CHILDREN) lt_child_usage_hide(usage);
  return result;
}

/// Ticks of `times` (USER_HZ), the same number for all programs.
static clock_t ticks(struct timeval time) { return time.tv_sec * 100 + time.tv_usec / 10000; }

LT_EXPORT clock_t LT_HOOK(times)(struct tms *used) {
  clock_t result = NEXT(times)(used);
  struct rusage children;
  // From sums in microseconds: a difference of ticks would be rounded twice.
  if (used && NEXT(getrusage)(RUSAGE_CHILDREN, &children) == 0) {
    lt_child_usage_hide(&children);
    used->tms_cutime = ticks(children.ru_utime);
    used->tms_cstime = ticks(children.ru_stime);
  }
  return result;
}
