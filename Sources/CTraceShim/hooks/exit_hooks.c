// Hooks of the ends of a process. They take a snapshot before anything is torn down, and close the trace after
// everything is.
//
// A return from main goes to the C library's own exit, past any hook. So every handler that is registered to run at
// exit is wrapped, and the first one that runs takes the snapshot. Each of these functions tail-calls the function
// behind it, so the recorder appears in no stack.

#define _GNU_SOURCE
#include "hooks/exit_hooks.h"

#include "check.h"
#include "hooks/hook.h"
#include "hooks/program_marks.h"
#include "image/heap_snapshot.h"
#include "os/process_identity.h"
#include "process/lifecycle.h"
#include "process/recording.h"
#include "record/trace_file.h"
#include "thread/hook_switch.h"

#include <stdlib.h>
#include <unistd.h>

extern int __cxa_atexit(void (*)(void *), void *, void *);

// --- handlers --------------------------------------------------------------------------------------------------------

struct handler {
  void (*function)(void *);
  void *argument;
};
/// Handlers beyond the limit are registered unwrapped: a wrapped one runs soon enough.
enum { HANDLER_LIMIT = 1 << 15 };
static struct handler *handlers;
static _Atomic uint32_t handlerCount;

static void run_wrapped(void *context) {
  LT_CHECK((struct handler *)context >= handlers && (struct handler *)context < handlers + HANDLER_LIMIT);
  struct handler h = *(struct handler *)context;
  // Destructors of an image that is being closed are registered in the same way.
  if (!lt_tls.isClosingImage) lt_snapshot_at_exit();
  __attribute__((musttail)) return h.function(h.argument);
}

static void take_snapshot(void *unused) {
  (void)unused;
  lt_snapshot_at_exit();
}

LT_EXPORT int LT_HOOK(__cxa_atexit)(void (*function)(void *), void *argument, void *image) {
  if (handlers && atomic_load_explicit(&lt_hook_mode, memory_order_relaxed)) {
    uint32_t index = atomic_fetch_add(&handlerCount, 1);
    if (index < HANDLER_LIMIT) {
      handlers[index] = (struct handler){function, argument};
      function = run_wrapped;
      argument = &handlers[index];
    } else {
      atomic_store(&handlerCount, HANDLER_LIMIT);
    }
  }
  __typeof__(&__cxa_atexit) next = NEXT(__cxa_atexit);
  __attribute__((musttail)) return next(function, argument, image);
}

void lt_exit_hooks_init(void (*finish)(void *)) {
  handlers = lt_map_private(HANDLER_LIMIT * sizeof *handlers);
  if (finish) NEXT(__cxa_atexit)(finish, NULL, NULL);
  NEXT(__cxa_atexit)(take_snapshot, NULL, NULL);
}

// --- ends ------------------------------------------------------------------------------------------------------------

// Defined under names of their own: the compiler then does not know that they never return, and tail-calls.

typedef void ending(int);

LT_EXPORT void lt_exit(int status) LT_NAMED(exit);
LT_EXPORT void lt_exit(int status) {
  if (lt_recording_is_on()) lt_mark_end(LT_HOOK_FRAME);
  lt_snapshot_at_exit();
  ending *next = (ending *)NEXT(exit);
  __attribute__((musttail)) return next(status);
}

LT_EXPORT void lt_quick_exit(int status) LT_NAMED(quick_exit);
LT_EXPORT void lt_quick_exit(int status) {
  if (lt_recording_is_on()) lt_mark_end(LT_HOOK_FRAME);
  lt_snapshot_at_exit();
  if (lt_recording_is_on()) lt_process_finish(LT_CLOSE_UNDERSCORE_EXIT);
  ending *next = (ending *)NEXT(quick_exit);
  __attribute__((musttail)) return next(status);
}

LT_EXPORT void LT_HOOK(_exit)(int status) {
  lt_snapshot_at_exit();
  if (lt_recording_is_on()) lt_process_finish(LT_CLOSE_UNDERSCORE_EXIT);
  lt_syscall(SYS_exit_group, status, 0, 0);
  __builtin_unreachable();
}
LT_EXPORT void LT_HOOK(_Exit)(int status) { LT_HOOK(_exit)(status); }
