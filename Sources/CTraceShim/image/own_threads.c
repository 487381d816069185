#include "image/own_threads.h"

#include "os/os.h"
#include "record/trace_file.h"

static _Atomic pid_t watcher;

pid_t lt_own_threads_watcher(void) { return atomic_load_explicit(&watcher, memory_order_relaxed); }

void lt_own_threads_set_watcher(pid_t thread) { atomic_store(&watcher, thread); }

bool lt_own_threads_serves(uint32_t osThread) {
  const struct lt_live_header *live = lt_trace.live;
  return live && osThread && atomic_load((const _Atomic uint32_t *)&live->servingThread) == osThread &&
         lt_thread_exists(lt_trace.process, (pid_t)osThread);
}
