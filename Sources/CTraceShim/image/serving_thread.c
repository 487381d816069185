// A thread that takes one image for an outside requester, which makes the process create it: no call of the host's is
// interrupted.
//
// A process whose threads all wait calls no hook, and a signal would end calls such as sleep and poll. So the requester
// stops one of the threads as a debugger does, makes it call clone as the live file describes, and lets it resume its
// wait. The requester claims the stack with a word in the live file. The kernel then keeps the thread's number in that
// word until the thread has ended.

#define _GNU_SOURCE
#include "image/serving_thread.h"

#include "check.h"
#include "image/heap_snapshot.h"
#include "image/own_threads.h"
#include "os/os.h"
#include "os/process_identity.h"
#include "record/trace_file.h"
#include "thread/own_thread.h"
#include "thread/thread_state.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
  MILLISECOND = 1000000,
  STACK_SIZE = 64 << 10,
  PATIENCE_MILLISECONDS = 3000, ///< for the requester to release the thread that it stopped
  END_MILLISECONDS = 1000,      ///< for the thread to end before the recorder does
  IMAGE_MILLISECONDS = 10000,   ///< for the thread to take its image and to end
};

static void serve(void *unused) {
  (void)unused;
  lt_block_signals(LT_ALL_SIGNALS);
  lt_syscall(SYS_prctl, PR_SET_NAME, "leaktrace", 0);
  memset(&lt_tls, 0, sizeof lt_tls);
  struct lt_live_header *live = lt_trace.live;
  LT_CHECK(live && !lt_tls.thread);
  // A thread that another process traces cannot be stopped for the image.
  for (int waited = 0; !atomic_load((_Atomic uint32_t *)&live->servingMayBegin); waited++) {
    if (waited == PATIENCE_MILLISECONDS) return;
    lt_sleep(MILLISECOND);
  }
  lt_snapshot_answer(NULL);
}

void lt_serving_init(void) {
  // Only one serving thread uses them at a time.
  static uint8_t *stack;
  static uintptr_t threadPointer;
  if (!stack) stack = lt_map_private(STACK_SIZE);
  if (stack && !threadPointer) threadPointer = lt_make_thread_local();
  if (!threadPointer) return;
  struct lt_clone_registers registers;
  lt_clone_prepare(&registers, stack + STACK_SIZE, serve, NULL);
  LT_CHECK(registers.stack >= (uintptr_t)stack && registers.stack < (uintptr_t)stack + STACK_SIZE);
  LT_CHECK(lt_trace.live != NULL);
  struct lt_live_header *live = lt_trace.live;
  live->servingFlags = LT_CLONE_THREAD | CLONE_UNTRACED | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  live->servingStack = registers.stack;
  live->servingThreadPointer = threadPointer;
  live->servingWord = (uintptr_t)&live->servingThread;
  atomic_store((_Atomic uint64_t *)&live->servingCall, registers.call);
}

void lt_serving_await_other(void) {
  // A child that was forked by the bare system call lacks these pages.
  if (!lt_trace_is_writable() || !lt_identity_is_claimants()) return;
  const struct lt_live_header *live = lt_trace.live;
  for (int waited = 0; waited < IMAGE_MILLISECONDS &&
                       lt_own_threads_serves(atomic_load((const _Atomic uint32_t *)&live->servingThread)) &&
                       !lt_own_threads_serves((uint32_t)lt_thread_id());
       waited++)
    lt_sleep(MILLISECOND);
}

void lt_serving_end(void) {
  struct lt_live_header *live = lt_trace.live;
  if (!live) return;
  atomic_store((_Atomic uint64_t *)&live->servingCall, 0);
  for (int waited = 0;
       waited < END_MILLISECONDS && lt_own_threads_serves(atomic_load((_Atomic uint32_t *)&live->servingThread)) &&
       !lt_own_threads_serves((uint32_t)lt_thread_id());
       waited++)
    lt_sleep(MILLISECOND);
}
