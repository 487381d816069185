// Hooks of the calls that wait for children of any kind: they hide the recorder's own, which write heap images, from
// the host.

#define _GNU_SOURCE
#include "hooks/hook.h"
#include "image/heap_snapshot.h"
#include "profile/function_names.h"

#include <sys/resource.h>
#include <sys/wait.h>

static bool is_for_all_kinds(int options) { return options & (__WALL | __WCLONE); }

static bool is_helper(pid_t child) { return lt_snapshot_is_helper(child) || lt_function_names_is_helper(child); }

static pid_t wait_for_others(pid_t which, int *status, int options, struct rusage *usage) {
  for (;;) {
    int ended = 0;
    pid_t child = NEXT(wait4)(which, &ended, options, usage);
    if (child > 0 && is_helper(child)) continue;
    if (child > 0 && status) *status = ended;
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
        if (options & WNOWAIT) NEXT(wait4)(found.si_pid, NULL, __WALL, NULL);
        continue;
      }
      if (result == 0 && information) *information = found;
      return result;
    }
  }
  __typeof__(&waitid) next = NEXT(waitid);
  __attribute__((musttail)) return next(kind, which, information, options);
}
