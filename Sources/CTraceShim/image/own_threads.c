#define _GNU_SOURCE
#include "image/own_threads.h"

#include "os/os.h"
#include "record/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>

static _Atomic pid_t watcher;

pid_t lt_own_threads_watcher(void) { return atomic_load_explicit(&watcher, memory_order_relaxed); }

void lt_own_threads_set_watcher(pid_t thread) { atomic_store(&watcher, thread); }

bool lt_own_threads_serves(uint32_t osThread) {
  const struct lt_live_header *live = lt_trace.live;
  return live && osThread && atomic_load((const _Atomic uint32_t *)&live->servingThread) == osThread &&
         lt_thread_exists(lt_trace.process, (pid_t)osThread);
}

bool lt_own_threads_has_others(void) {
  // A directory of threads: its links are those threads, itself and its parent.
  struct stat info;
  pid_t watcher = lt_own_threads_watcher();
  unsigned own = watcher && watcher != lt_thread_id() ? 1 : 0;
  return lt_syscall6(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&info, 0, 0, 0) != 0 ||
         info.st_nlink != 3 + own;
}
