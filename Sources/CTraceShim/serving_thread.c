// A thread that takes one image for a requester outside, who has the process make it: no call of the host's is interrupted.
//
// A process whose threads all wait calls no hook, and a signal would end calls such as sleep and poll. So the requester stops one of the threads as a debugger does, lets it make
// the call of clone that the live file describes, and lets it go on with its wait. The requester claims the stack by a word there, in which the kernel then keeps the
// thread's number until the thread has ended.

#define _GNU_SOURCE
#include "serving_thread.h"

#include "clone_call.h"
#include "expectation_watcher.h"
#include "heap_snapshot.h"
#include "os.h"
#include "thread_state.h"
#include "trace_file.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
  STACK_SIZE = 64 << 10,
  PATIENCE_MILLISECONDS = 3000, ///< for the requester to let go the thread that it stopped
  END_MILLISECONDS = 1000,      ///< for the thread to end, before the recorder does
};

static void wait_millisecond(void) {
  struct timespec moment = {.tv_nsec = 1000000};
  lt_syscall(SYS_nanosleep, &moment, 0, 0);
}

static void serve(void *unused) {
  (void)unused;
  uint64_t all = ~0ull;
  lt_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, 0, sizeof all, 0, 0);
  lt_syscall(SYS_prctl, PR_SET_NAME, "leaktrace", 0);
  memset(&lt_tls, 0, sizeof lt_tls);
  struct lt_live_header *live = lt_trace.live;
  // A thread that another traces cannot be stopped for the image.
  for (int waited = 0; !atomic_load((_Atomic uint32_t *)&live->servingMayBegin); waited++) {
    if (waited == PATIENCE_MILLISECONDS) return;
    wait_millisecond();
  }
  lt_snapshot_answer(NULL);
}

void lt_serving_init(void) {
  uint8_t *stack = lt_map_private(STACK_SIZE);
  uintptr_t threadPointer = stack ? lt_make_thread_local() : 0;
  if (!threadPointer) return;
  struct lt_clone_registers registers;
  lt_clone_prepare(&registers, stack + STACK_SIZE, serve, NULL);
  struct lt_live_header *live = lt_trace.live;
  live->servingFlags = LT_CLONE_THREAD | CLONE_UNTRACED | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  live->servingStack = registers.stack;
  live->servingThreadPointer = threadPointer;
  live->servingWord = (uintptr_t)&live->servingThread;
  atomic_store((_Atomic uint64_t *)&live->servingCall, registers.call);
}

void lt_serving_end(void) {
  struct lt_live_header *live = lt_trace.live;
  if (!live) return;
  atomic_store((_Atomic uint64_t *)&live->servingCall, 0);
  for (int waited = 0; waited < END_MILLISECONDS && lt_serving_is(atomic_load((_Atomic uint32_t *)&live->servingThread)) && !lt_serving_is((uint32_t)lt_thread_id()); waited++) wait_millisecond();
}

bool lt_serving_is(uint32_t osThread) {
  const struct lt_live_header *live = lt_trace.live;
  return live && osThread && atomic_load((const _Atomic uint32_t *)&live->servingThread) == osThread && lt_thread_exists(lt_trace.process, (pid_t)osThread);
}
