// Hooks of the calls that take a process out of reach of its trace: another root directory, another user, other
// namespaces. The file first gets all the length that it may need, and the recorder's own task
// ends: some of the calls are refused to a process with several threads.

#define _GNU_SOURCE
#include "hooks/hook.h"
#include "image/serving_thread.h"
#include "os/apart_task.h"
#include "record/trace_file.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#define REACH_HOOK(name, parameters, arguments)      \
  LT_EXPORT int LT_HOOK(name) parameters {           \
    lt_apart_await_other();                          \
    lt_trace_before_losing_reach();                  \
    __typeof__(&name) next = NEXT(name);             \
    __attribute__((musttail)) return next arguments; \
  }
REACH_HOOK(chroot, (const char *path), (path))
REACH_HOOK(setuid, (uid_t user), (user))
REACH_HOOK(seteuid, (uid_t user), (user))
REACH_HOOK(setreuid, (uid_t real, uid_t effective), (real, effective))
REACH_HOOK(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
REACH_HOOK(setgid, (gid_t group), (group))
REACH_HOOK(setegid, (gid_t group), (group))
REACH_HOOK(setregid, (gid_t real, gid_t effective), (real, effective))
REACH_HOOK(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))

// The kernel refuses these to a process with several threads. One that serves an image can begin at any moment, so the
// call is made again after such a refusal.
#define LONE_HOOK(name, parameters, arguments)                            \
  LT_EXPORT int LT_HOOK(name) parameters {                                \
    lt_apart_await_other();                                               \
    lt_serving_await_other();                                             \
    lt_trace_before_losing_reach();                                       \
    int before = errno, result = NEXT(name) arguments;                    \
    for (int i = 0; result != 0 && errno == EINVAL && i < RETRIES; i++) { \
      lt_serving_await_other();                                           \
      errno = before;                                                     \
      result = NEXT(name) arguments;                                      \
    }                                                                     \
    return result;                                                        \
  }
enum { RETRIES = 2 };
LONE_HOOK(unshare, (int flags), (flags))
LONE_HOOK(setns, (int descriptor, int kind), (descriptor, kind))
